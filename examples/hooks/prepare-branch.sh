#!/bin/sh
# before_run hook, for any forge: puts the work of this issue on a branch of its own, with what others pushed to it.
#
#   before_run: sh ~/.config/foray/prepare-branch.sh
set -eu
export GIT_TERMINAL_PROMPT=0
branch=foray/$(basename "$FORAY_WORKSPACE")

# What Foray keeps in the workspace is not part of the work.
exclude=$(git rev-parse --git-path info/exclude)
mkdir -p "$(dirname "$exclude")"
grep -qxF '/.foray/' "$exclude" 2>/dev/null || echo '/.foray/' >>"$exclude"

git fetch --quiet --prune origin
git checkout --quiet "$branch" 2>/dev/null || git checkout --quiet -b "$branch"

# Where both sides have commits of their own, the agent sees both and brings them together.
if git rev-parse --quiet --verify "refs/remotes/origin/$branch" >/dev/null; then
  git merge --quiet --ff-only "origin/$branch" || echo "$branch and origin/$branch have diverged" >&2
fi
