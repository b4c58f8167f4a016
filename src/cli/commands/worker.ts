import { LONGEST_HOST_NAME } from '../../domain/model/host-path.ts';
import { readNumber } from '../args.ts';
import { UsageError, type Args, type Command } from '../command.ts';

const MOST_SLOTS = 1_000;

export const command: Command = {
  name: 'worker',
  summary: 'take runs from the queue of a service on PostgreSQL',
  usage: "--url '$NAME' [--slots N] [--label A,B] [--name NAME] [--root DIR]",
  flags: [
    { name: 'url', value: 'URL', summary: 'the database, as in store.url; $NAME takes it from the environment' },
    { name: 'slots', value: 'N', summary: 'runs at the same time (default 1)' },
    { name: 'label', value: 'A,B', summary: 'labels that agent.run_on may ask for' },
    { name: 'name', value: 'NAME', summary: 'what this worker is called (default the name of the host)' },
    { name: 'root', value: 'DIR', summary: 'where its workspaces are (default a state directory of the user)' },
  ],
  example: "foray worker --url '$DATABASE_URL' --slots 4 --label gpu",
  takes: { least: 0, most: 0 },
  async run(args: Args) {
    const url = args.value('url');
    if (url === null) throw new UsageError('--url is needed: the database of the service, as in store.url');
    const slots = readNumber('--slots', args.value('slots'), MOST_SLOTS) ?? 1;
    if (slots === 0) throw new UsageError('--slots must be at least 1');
    const labels = (args.value('label') ?? '').split(',').filter((label) => label !== '');
    const name = args.value('name');
    if (name !== null && !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) {
      throw new UsageError(`--name: "${name}" is no name of a host`);
    }
    if (name !== null && name.length > LONGEST_HOST_NAME) {
      throw new UsageError(`--name may have ${LONGEST_HOST_NAME} letters, this one has ${name.length}`);
    }
    return (await import('../actions/worker.ts')).work({ url, slots, labels, name, root: args.value('root') });
  },
};
