import { AGENT_NAMES, TRACKER_NAMES } from '../../app/init/init.ts';
import { UsageError, type Command, type Flag } from '../command.ts';
import { COMMANDS, RUN_COMMAND } from '../commands.ts';

/** The completion script of a shell, made of the table of commands. */
export function completionFor(shell: string): string {
  const make = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (make === undefined) throw new UsageError(`completion is made for ${Object.keys(SHELLS).join(', ')}, got "${shell}"`);
  return make();
}

const SHELLS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

function bash(): string {
  const values = COMMANDS.flatMap(({ name, flags }) => flags.filter(takesValue).map((flag) => bashValue(name, flag)));
  const flags = COMMANDS.map((command) => `    ${command.name}) flags="${flagWords(command)}" ;;`);
  return `# Completion of foray for bash. Put it where bash looks, such as ~/.local/share/bash-completion/completions/foray
_foray_offer() {
  local offer
  while IFS= read -r offer; do COMPREPLY+=("$offer"); done
}
_foray() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" name="\${COMP_WORDS[1]}" flags
  COMPREPLY=()
  # bash takes --flag=value apart.
  if [[ "$word" == "=" ]]; then word=""
  elif [[ "$before" == "=" ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ $COMP_CWORD -eq 1 && "$word" != -* ]]; then
    _foray_offer < <(compgen -W "${names().join(' ')}" -- "$word"; compgen -f -X '!*.md' -- "$word"; compgen -d -- "$word")
    return
  fi
  case "$name" in ${names().join('|')}) ;; *) name=${RUN_COMMAND.name} ;; esac
  case "$name $before" in
${values.join('\n')}
  esac
  case "$name" in
${flags.join('\n')}
  esac
  if [[ "$word" == -* ]]; then
    _foray_offer < <(compgen -W "$flags" -- "$word")
  elif [[ "$name" == completion ]]; then
    _foray_offer < <(compgen -W "${Object.keys(SHELLS).join(' ')}" -- "$word")
  else
    _foray_offer < <(compgen -f -X '!*.md' -- "$word"; compgen -d -- "$word")
  fi
}
complete -o filenames -F _foray foray
`;
}

function zsh(): string {
  const described = COMMANDS.map(({ name, summary }) => `    '${name}:${zshText(summary)}'`);
  const cases = COMMANDS.map(
    (command) => `    ${command.name}) _arguments ${[...command.flags, HELP].map(zshFlag).join(' ')} ${zshWords(command)} ;;`,
  );
  return `#compdef foray
# Completion of foray for zsh. Put it as _foray into a folder of $fpath.
_foray() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )) && [[ "$words[2]" != -* ]]; then
    _describe 'command' commands
    _files -g '*.md'
    return
  fi
  local name=${RUN_COMMAND.name}
  if (( \${commands[(I)\${words[2]}:*]} )); then
    name="$words[2]"
    shift words
    (( CURRENT-- ))
  fi
  case "$name" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_foray" ]; then _foray "$@"; else compdef _foray foray; fi
`;
}

function fish(): string {
  const others = names().filter((name) => name !== RUN_COMMAND.name);
  const isOf = ({ name }: Command): string =>
    name === RUN_COMMAND.name ? `not __fish_seen_subcommand_from ${others.join(' ')}` : `__fish_seen_subcommand_from ${name}`;
  const lines = [
    '-f',
    ...COMMANDS.map(({ name, summary }) => `-n 'test (count (commandline -opc)) -eq 1' -a ${name} -d '${fishText(summary)}'`),
    ...COMMANDS.flatMap((command) => [...command.flags, HELP].map((flag) => `-n '${isOf(command)}' ${fishFlag(flag)}`)),
    `-n '__fish_seen_subcommand_from completion' -a '${Object.keys(SHELLS).join(' ')}'`,
    `-n 'not __fish_seen_subcommand_from completion' -k -a '(__fish_complete_suffix .md)'`,
  ];
  const head = '# Completion of foray for fish. Put it into ~/.config/fish/completions/foray.fish';
  return `${[head, ...lines.map((line) => `complete -c foray ${line}`)].join('\n')}\n`;
}

const HELP: Flag = { name: 'help', short: 'h', summary: 'what it does and takes' };

function names(): readonly string[] {
  return COMMANDS.map(({ name }) => name);
}

function flagWords({ flags }: Command): string {
  return [...flags, HELP].map(({ name }) => `--${name}`).join(' ');
}

function takesValue({ value }: Flag): boolean {
  return value !== undefined;
}

/** What is known beforehand of the value of a flag. */
function wordsFor({ choices, offered }: Flag): readonly string[] {
  return choices ?? (offered === undefined ? [] : OFFERED[offered]);
}

const OFFERED = { trackers: TRACKER_NAMES, agents: AGENT_NAMES };

/** What follows a flag that takes a value is never taken for a file. */
function bashValue(command: string, flag: Flag): string {
  const offer = flag.value === 'DIR' ? '-d' : `-W "${wordsFor(flag).join(' ')}"`;
  const forms = [`--${flag.name}`, ...(flag.short === undefined ? [] : [`-${flag.short}`])];
  return `    ${forms.map((form) => `"${command} ${form}"`).join('|')}) _foray_offer < <(compgen ${offer} -- "$word"); return ;;`;
}

function zshFlag(flag: Flag): string {
  const { name, short, value, summary } = flag;
  const offer = value === 'DIR' ? '_files -/' : `(${wordsFor(flag).join(' ')})`;
  const rest = `[${zshText(summary)}]${value === undefined ? '' : `:${value}:${offer}`}`;
  const long = value === undefined ? `--${name}` : `--${name}=`;
  return short === undefined ? `'${long}${rest}'` : `'(-${short} --${name})'{-${short},${long}}'${rest}'`;
}

function zshWords({ name }: Command): string {
  return name === 'completion' ? `'1:shell:(${Object.keys(SHELLS).join(' ')})'` : `'*:file:_files -g "*.md"'`;
}

function zshText(text: string): string {
  return text.replace(/[[\]:']/g, ' ');
}

function fishFlag(flag: Flag): string {
  const { name, short, value, summary } = flag;
  const offer = value === 'DIR' ? '(__fish_complete_directories)' : wordsFor(flag).join(' ');
  const argument = value === undefined ? '' : ` -x${offer === '' ? '' : ` -a '${offer}'`}`;
  return `-l ${name}${short === undefined ? '' : ` -s ${short}`}${argument} -d '${fishText(summary)}'`;
}

function fishText(text: string): string {
  return text.replaceAll("'", ' ');
}
