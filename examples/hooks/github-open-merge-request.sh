#!/bin/sh
# after_run hook for GitHub: pushes the work, opens its pull request where there is none, and writes .foray/scm.json.
#
#   after_run: sh ~/.config/foray/github-open-merge-request.sh https://api.github.com owner/repository
#
# A third argument names the branch to merge into; without it, it is the default branch of the clone. Needs git, curl and
# node. The token comes from ~/.config/foray/github-token (chmod 600), else from the git credentials of the origin. The API
# of an enterprise server is https://its-name/api/v3.
set -eu
export GIT_TERMINAL_PROMPT=0

api=${1:?the address of the API is missing}
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

token=$(cat "$HOME/.config/foray/github-token" 2>/dev/null) ||
  token=$(printf 'url=%s\n\n' "$(git remote get-url origin)" | git credential fill | sed -n 's/^password=//p')
[ -n "$token" ] || { echo 'no token: write one to ~/.config/foray/github-token' >&2; exit 1; }

# The token goes in by standard input, so that no list of processes shows it.
request() {
  printf 'header = "Authorization: Bearer %s"\n' "$token" |
    curl --silent --show-error --max-time 30 --config - --header 'Content-Type: application/json' \
      --header 'Accept: application/vnd.github+json' "$@"
}

# Prints the number of our pull request in an answer, or nothing where a list lacks it; fails on any other answer. One
# that comes from a fork is not ours, whatever its branch is called.
number_in() {
  node -e '
    const text = require("node:fs").readFileSync(0, "utf8");
    let answer = null;
    try { answer = JSON.parse(text); } catch {}
    const isOurs = ({ head, base }) => head.ref === process.env.branch && head.repo?.id === base.repo.id;
    const found = Array.isArray(answer) ? answer.find(isOurs) : answer;
    if (Number.isInteger(found?.number)) console.log(found.number);
    else if (!Array.isArray(answer)) { console.error(`GitHub answered: ${text.slice(0, 500)}`); process.exit(1); }
  '
}

pulls=${api%/}/repos/$project/pulls
ours=$(node -p '
  const { project, base, branch } = process.env;
  new URLSearchParams({ state: "open", head: `${project.split("/")[0]}:${branch}`, base, per_page: 100 }).toString()
')
number=$(request "$pulls?$ours" | number_in)
if [ -z "$number" ]; then
  # No word that has GitHub close the issue by itself: the reaction merge_completion does that, and moves its labels.
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
