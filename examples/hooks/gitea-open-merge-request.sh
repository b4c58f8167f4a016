#!/bin/sh
# after_run hook for Gitea and Forgejo: pushes the work, opens its pull request where there is none, and writes
# .foray/scm.json.
#
#   after_run: sh ~/.config/foray/gitea-open-merge-request.sh https://git.example.org owner/repository
#
# A third argument names the branch to merge into; without it, it is the default branch of the clone. Needs git, curl and
# node. The token comes from ~/.config/foray/gitea-token (chmod 600), else from the git credentials of the origin.
set -eu
export GIT_TERMINAL_PROMPT=0

forge=${1:?the address of the forge is missing}
project=${2:?owner/repository is missing}
base=${3:-$(git symbolic-ref --short refs/remotes/origin/HEAD)}
base=${base#origin/}
branch=foray/$(basename "$FORAY_WORKSPACE")
sha=$(git rev-parse HEAD)
export project base branch sha

# Nothing was committed, so there is nothing to propose.
commits=$(git rev-list --count "origin/$base..HEAD")
[ "$commits" -gt 0 ] || exit 0

# Without force; after a rebase only what this script pushed itself is replaced, never the commits of somebody else.
pushed=$(git rev-parse --quiet --verify refs/foray/pushed || true)
git push --quiet origin "HEAD:refs/heads/$branch" ||
  git push --quiet --force-with-lease="$branch:$pushed" origin "HEAD:refs/heads/$branch"
git update-ref refs/foray/pushed "$sha"

token=$(cat "$HOME/.config/foray/gitea-token" 2>/dev/null) ||
  token=$(printf 'url=%s\n\n' "$(git remote get-url origin)" | git credential fill | sed -n 's/^password=//p')
[ -n "$token" ] || { echo 'no token: write one to ~/.config/foray/gitea-token' >&2; exit 1; }

# The token goes in by standard input, so that no list of processes shows it.
request() {
  printf 'header = "Authorization: token %s"\n' "$token" |
    curl --silent --show-error --max-time 30 --config - --header 'Content-Type: application/json' "$@"
}

# Prints the number of our pull request in an answer, `next` where a page lacks it, nothing where a page is empty; fails on
# any other answer. One that comes from a fork is not ours, whatever its branch is called.
number_in() {
  node -e '
    const text = require("node:fs").readFileSync(0, "utf8");
    let answer = null;
    try { answer = JSON.parse(text); } catch {}
    const { branch, base: target } = process.env;
    const isOurs = ({ head, base }) => head.ref === branch && base.ref === target && head.repo_id === base.repo_id;
    const found = Array.isArray(answer) ? answer.find(isOurs) : answer;
    if (Number.isInteger(found?.number)) console.log(found.number);
    else if (!Array.isArray(answer)) { console.error(`the forge answered: ${text.slice(0, 500)}`); process.exit(1); }
    else if (answer.length > 0) console.log("next");
  '
}

# The list cannot be narrowed to a branch, so it is read page by page, what changed last first.
pulls=${forge%/}/api/v1/repos/$project/pulls
page=0
number=next
while [ "$number" = next ]; do
  page=$((page + 1))
  number=$(request "$pulls?state=open&sort=recentupdate&limit=50&page=$page" | number_in)
done
if [ -z "$number" ]; then
  # No word that has the forge close the issue by itself: the reaction merge_completion does that, and moves its labels.
  new=$(node -p '
    const { base, branch, FORAY_ISSUE_TITLE: title, FORAY_ISSUE_IDENTIFIER: issue } = process.env;
    const body = `Opened by Foray for issue ${issue}.`;
    JSON.stringify({ head: branch, base, title: (title || issue).slice(0, 255), body })
  ')
  number=$(request --data "$new" "$pulls" | number_in)
fi

mkdir -p .foray
number=$number node -p '
  const { project, branch, sha, number } = process.env;
  const [owner, repo] = project.split("/");
  JSON.stringify({ branch, sha, pushed_at: new Date().toISOString(), pr_number: Number(number), owner, repo })
' >.foray/scm.json.new
mv .foray/scm.json.new .foray/scm.json
