import type {
  FakeLabelEvent,
  FakeMergeRequest,
  FakePipeline,
  FakePosition,
  FakeReviewNote,
  MergeRequestFields,
  MergeWorld,
  PipelineFields,
} from './merge-store.ts';
import { addPipeline, addReviewNote, changeLabels, createMergeRequest, meet, pushTo } from './merge-store.ts';

/** What a test does with the merge requests of the fake, as other people and the CI would. */
export interface FakeMergeSide {
  add(fields?: MergeRequestFields): FakeMergeRequest;
  /** Throws when there is none. */
  get(iid: number): FakeMergeRequest;
  remove(iid: number): void;
  /** A new head without a pipeline of its own. */
  push(iid: number, sha: string): void;
  note(
    iid: number,
    fields?: Partial<Omit<FakeReviewNote, 'id' | 'position'>> & { readonly position?: Partial<FakePosition> | null },
  ): FakeReviewNote;
  label(iid: number, change: { add?: readonly string[]; remove?: readonly string[]; actor?: string }): void;
  /** An entry of the journal as it stands there, whatever was done. */
  labelEvent(iid: number, event: FakeLabelEvent): void;
  /** The new head pipeline of a request; of the branch `main` without one. */
  pipeline(fields?: PipelineFields, iid?: number): FakePipeline;
  user(username: string, facts?: { readonly bot?: boolean }): void;
  removeUser(username: string): void;
  protect(branch: string): void;
  /** 30 is a Developer. */
  member(username: string, accessLevel: number): void;
  /** Switches merge trains on. */
  trains(): void;
  branchNames(): readonly string[];
}

export function createMergeSide(world: MergeWorld): FakeMergeSide {
  const get = (iid: number): FakeMergeRequest => {
    const found = world.requests.get(iid);
    if (!found) throw new Error(`the fake has no merge request !${iid}`);
    return found;
  };
  return {
    add: (fields) => createMergeRequest(world, fields),
    get,
    remove: (iid) => void world.requests.delete(iid),
    push: (iid, sha) => pushTo(world, get(iid), sha),
    note: (iid, fields) => addReviewNote(world, get(iid), fields),
    label: (iid, change) => changeLabels(world, get(iid), change),
    labelEvent: (iid, event) => void get(iid).labelEvents.push(event),
    pipeline: (fields = {}, iid) => addPipeline(world, fields, iid === undefined ? undefined : get(iid)),
    user: (username, { bot = false } = {}) => meet(world, username, bot),
    removeUser: (username) => void world.users.delete(username),
    member: (username, level) => void world.members.set(username, level),
    trains: () => void (world.hasTrains = true),
    protect: (branch) => void world.protectedBranches.add(branch),
    branchNames: () => [...world.branches.keys()],
  };
}
