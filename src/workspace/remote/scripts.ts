import { BROKEN_ENDS_MS } from '../../lib/ssh/index.ts';
import { markFile } from '../marks.ts';

/*
 * What is done to workspaces on another host, in the words of a POSIX shell. Each begins with the root in $1; names are
 * those of key.ts, so that none of them can lead out of the root. Links are never followed, and what is read is printed
 * in hexadecimal digits.
 */

const ROOT = `
umask 027
root=$1; shift
case $root in "~/"*) root=$HOME/\${root#"~/"} ;; esac
mkdir -p -- "$root" && root=$(cd -P -- "$root" && pwd -P) || exit 3
hex() { od -An -v -tx1 | tr -d ' \\n'; }
plain() { [ -f "$1" ] && [ ! -L "$1" ]; }
folder() { [ -d "$1" ] && [ ! -L "$1" ]; }
identity() { (stat -c %d.%i.%W -- "$1" || stat -f %d.%i.%B -- "$1" || ls -di -- "$1") 2>/dev/null | tr ' ' .; }
there() { [ -e "$1" ] || [ -L "$1" ]; }
note() { plain "$1" || rm -rf -- "$1"; : >"$1"; }
clear() { rm -rf -- "$1" 2>/dev/null || { chmod -R u+rwX -- "$1"; rm -rf -- "$1"; }; }
`;

/**
 * A look with git: an agent can write the settings of a repository, and no program that they name is run. Objects that are
 * missing are not fetched either, which could run one. A pipe in the place of a file that git reads would hold it up.
 */
const GIT = `
export GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none
without_pipes() { if folder .git; then find .git -type p -exec rm -f -- {} +; fi; }
g() { git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false --no-optional-locks "$@" 2>/dev/null; }
without_filters() {
  count=0
  while read -r key; do
    case $key in filter.*.clean | filter.*.process) value= ;; filter.*.required) value=false ;; *) continue ;; esac
    eval "GIT_CONFIG_KEY_$count=\\$key GIT_CONFIG_VALUE_$count=\\$value"
    export "GIT_CONFIG_KEY_$count" "GIT_CONFIG_VALUE_$count"
    count=$((count + 1))
  done <<KEYS
$(g config --name-only --get-regexp '^filter\\.')
KEYS
  export GIT_CONFIG_COUNT=$count
}
`;

/** For each name, its file of a mark and its note of being unfinished: what is there, and which directory where our folder is not in it. */
export const SURVEY = `${ROOT}
printf 'root %s\\n' "$root"
while [ $# -gt 0 ]; do
  kind=none
  if folder "$root/$1"; then kind=directory; elif [ -e "$root/$1" ] || [ -L "$root/$1" ]; then kind=other; fi
  mark=-
  if plain "$root/$2"; then mark=$(head -c 8192 "$root/$2" | hex); fi
  unfinished=no
  if there "$root/$3"; then unfinished=yes; fi
  bare=-
  if [ $kind = directory ] && ! folder "$root/$1/.foray"; then bare=$(identity "$root/$1"); fi
  printf '%s %s %s %s %s\\n' "$1" "$kind" "$unfinished" "$mark" "$bare"
  shift 3
done
`;

/**
 * What a daemon that died left running in a directory may go on for a while: its host ends it only when it notices. What
 * carries the directory in its environment is told to end, then ended, and waited for. Where that cannot be seen, the
 * time is waited that a host gives to what lost its daemon.
 */
const LEFTOVERS = `
carriers() {
  for f in $(grep -lsF -- "FORAY_WORKSPACE=$1" /proc/[0-9]*/environ 2>/dev/null); do
    if tr '\\0' '\\n' 2>/dev/null <"$f" | grep -qxF -- "FORAY_WORKSPACE=$1"; then f=\${f#/proc/}; echo "\${f%/environ}"; fi
  done
}
end_leftovers() {
  [ -r /proc/self/environ ] || { sleep ${BROKEN_ENDS_MS / 1_000 + 1}; return 0; }
  with=TERM
  for look in 1 2 3 4 5 6 7 8 9 10; do
    left=$(carriers "$1")
    [ -n "$left" ] || return 0
    for pid in $left; do
      if [ $with = TERM ]; then echo "left $pid"; fi
      kill -s $with "$pid" 2>/dev/null
    done
    sleep 1
    with=KILL
  done
  return 1
}
`;

/**
 * Name, file of the mark, note of being unfinished, text of the mark: says what was left running in the directory and is
 * ended, and whether the directory was made.
 */
export const CREATE = `${ROOT}${LEFTOVERS}
if folder "$root/$1"; then end_leftovers "$root/$1" || exit 10; fi
marks=$root/\${2%/*}
there "$marks" || mkdir -p -m 700 -- "$marks"
folder "$marks" || exit 8
rm -rf -- "$root/$2.new" && printf '%s' "$4" >"$root/$2.new" || exit 4
plain "$root/$2" || rm -rf -- "$root/$2"
mv -f -- "$root/$2.new" "$root/$2" || exit 4
if there "$root/$3"; then clear "$root/$1"; rm -rf -- "$root/$3"; fi
if folder "$root/$1"; then echo kept; exit 0; fi
note "$root/$3" && mkdir -m 750 -- "$root/$1" && echo made
`;

/** Name and note of being unfinished: the directory goes, then the note. */
export const DISCARD = `${ROOT}
if folder "$root/$1"; then note "$root/$2"; clear "$root/$1"; fi
rm -rf -- "$root/$2"
`;

/** Name, file of the mark, note of being unfinished: nothing is left of it. */
export const REMOVE = `${ROOT}
if folder "$root/$1"; then note "$root/$3"; clear "$root/$1"; fi
if [ -e "$root/$1" ]; then exit 5; fi
if folder "$root/\${2%/*}"; then rm -rf -- "$root/$2"; fi
rm -rf -- "$root/$3"
`;

/** Name and number of a moment: moves the directory out of the way and says where it is. */
export const ASIDE = `${ROOT}
removed=$root/.foray-removed
there "$removed" || mkdir -p -- "$removed"
folder "$removed" || exit 9
mv -- "$root/$1" "$removed/$1.$2" && printf '%s\\n' "$removed/$1.$2"
`;

/** Days: deletes what was moved aside longer ago than this. */
export const FORGET_ASIDE = `${ROOT}
if folder "$root/.foray-removed"; then find "$root/.foray-removed" -mindepth 1 -maxdepth 1 -mtime "+$1" -exec rm -rf -- {} +; fi
`;

/** Name and note of being unfinished: our own folder, ready for a run. */
export const RESET = `${ROOT}
rm -rf -- "$root/$2"
folder "$root/$1" || exit 6
data=$root/$1/.foray
if [ -e "$data" ] || [ -L "$data" ]; then folder "$data" || exit 7; else mkdir -- "$data" || exit 7; fi
rm -rf -- "$data/status" "$data/scm.json"
if ! plain "$data/.gitignore" || [ "$(cat "$data/.gitignore")" != '*' ]; then
  rm -rf -- "$data/.gitignore"; (set -C; echo '*' >"$data/.gitignore") 2>/dev/null
fi
exit 0
`;

/** Name: which directory it is, and the words that lie there or are committed there, which are not this run's; the files go. */
export const CLEAR_WORDS = `${ROOT}${GIT}
cd -- "$root/$1" || exit 6
without_pipes
printf 'directory %s\\n' "$(identity "$root/$1")"
for word in status scm.json; do
  if plain ".foray/$word" && [ "$(wc -c <".foray/$word")" -le 65536 ]; then printf '%s %s\\n' "$word" "$(hex <".foray/$word")"; fi
  if g show "HEAD:./.foray/$word" >/dev/null; then
    printf '%s %s\\n' "$word" "$(g show "HEAD:./.foray/$word" | head -c 65536 | hex)"
  fi
  if folder .foray; then rm -rf -- ".foray/$word"; fi
done
exit 0
`;

/** Name, word and number of bytes: what the file says. */
export const READ_WORD = `${ROOT}
if folder "$root/$1" && folder "$root/$1/.foray"; then
  file=$root/$1/.foray/$2
  if plain "$file"; then printf 'file %s\\n' "$(head -c "$3" "$file" | hex)"; elif [ -e "$file" ] || [ -L "$file" ]; then echo refused; fi
fi
`;

/**
 * Name, and whether it is looked at as files whatever it is: what is there, in the lines that `compareWork` compares. Submodules
 * are looked at as files: git would use their own filters.
 */
export const LOOK_AT_WORK = `${ROOT}${GIT}
cd -- "$root/$1" || exit 6
without_pipes
files() { find "$1" \\( -path ./.foray -o -name .git \\) -prune -o -type f -exec cksum {} + -o -type l -exec ls -ld {} +; }
marks() {
  { g rev-parse --verify HEAD; g rev-list --no-walk --reflog; g for-each-ref '--format=%(objectname)' refs/heads refs/tags refs/stash
    g for-each-ref '--format=%(objectname) %(refname)' refs/remotes | grep -v ' refs/remotes/[^/]*/HEAD$'; } | sort -u
}
repository=no
if there .git && g rev-parse --git-dir >/dev/null; then repository=yes; fi
if [ $repository = yes ] && [ "$2" != files ]; then
  without_filters
  echo repository; marks
  {
    g status --porcelain=v1 --no-renames --untracked-files=all --ignore-submodules=dirty | cut -c 4- | grep -v '^\\.foray/'
    g diff --no-ext-diff --no-textconv --ignore-submodules=dirty --binary HEAD -- . ':!.foray'
    g ls-files -z --others --exclude-standard -- . ':!.foray' |
      xargs -0 sh -c 'for file; do if [ -L "$file" ]; then ls -ld -- "$file"; else cksum -- "$file"; fi; done' sh
    g ls-files --stage | sed -n 's/^160000 [^	]*	//p' | while IFS= read -r place; do files "./$place"; done
  } 2>/dev/null | cksum
else
  echo files; if [ $repository = yes ]; then marks; fi
  files . | sort | cksum
fi
`;

/** Name, standard input and arguments of git: what it says, and a last line where it succeeded. */
export const LOOK_WITH_GIT = `${ROOT}${GIT}
cd -- "$root/$1" || exit 6
input=$2; shift 2
if printf '%s' "$input" | g "$@"; then echo ok; fi
`;

/** The names of the directories under the root. */
export const LIST = `${ROOT}
cd -- "$root" && for name in * .[!.]* ..?*; do if folder "$name"; then printf '%s\\n' "$name"; fi; done
exit 0
`;

/** What a script is given of a name. */
export function partsOf(name: string, unfinished: string): readonly [string, string, string] {
  return [name, markFile(name), unfinished];
}
