import { z } from 'zod';
import type { ZodType } from 'zod';
import { CONNECTION, ISSUE, REMOVAL } from './schema.ts';
import { NESTED_CAP, PAGE_SIZE } from './settings.ts';

/** One document and the shape of the `data` it is answered with. */
export interface GraphqlOperation<T> {
  readonly text: string;
  readonly data: ZodType<T>;
}

function operation<T>(text: string, data: ZodType<T>): GraphqlOperation<T> {
  return { text, data };
}

const CONNECTION_OF_ISSUES = z.object({ issues: CONNECTION });
const COMMENTS = z.object({ comments: CONNECTION.nullish().transform((comments) => comments ?? { nodes: [] }) });
const ISSUE_WITH_COMMENTS = z.object({ issue: ISSUE.and(REMOVAL).and(COMMENTS).nullable() });
const COMMENTS_OF_ISSUE = z.object({ issue: COMMENTS.nullable() });
const UPDATED = z.object({ success: z.boolean().nullish() });

/** How much is asked for of each list: the remote charges for that, not for what there is (its page "Rate limiting"). */
export interface PageSizes {
  readonly issues: number;
  readonly labels: number;
  readonly relations: number;
}

export const FULL_PAGE: PageSizes = { issues: PAGE_SIZE, labels: NESTED_CAP, relations: NESTED_CAP };

/** The fields that tell who wrote what. They are asked for only where it matters. */
export interface PeopleFields {
  readonly ofIssue: string;
  readonly ofCommentUser: string;
}

export const WITHOUT_PEOPLE: PeopleFields = { ofIssue: '', ofCommentUser: '' };
export const WITH_PEOPLE: PeopleFields = { ofIssue: 'creator { id displayName name email }', ofCommentUser: 'id ' };

const issueFields = ({ labels, relations }: PageSizes, people: PeopleFields): string => `
  id identifier title description priority branchName url createdAt updatedAt
  state { name }
  assignee { displayName name email }
  ${people.ofIssue}
  parent { id identifier }
  labels(first: ${labels}) { nodes { name } pageInfo { hasNextPage } }
  inverseRelations(first: ${relations}) {
    nodes { type issue { id identifier state { name } } }
    pageInfo { hasNextPage }
  }`;

// They come newest first, and are put into order once all are read.
const commentFields = (people: PeopleFields): string => `
  nodes { id body createdAt user { ${people.ofCommentUser}displayName name email } botActor { name } }
  pageInfo { hasNextPage endCursor }`;

// Linear API, "Getting started": query `viewer`.
export const VIEWER = operation('query Viewer { viewer { id } }', z.object({ viewer: z.object({ id: z.string() }) }));

// Linear API, "Filtering" and "Pagination": query `teams`.
export const TEAM_STATES = operation(
  `query TeamStates($teamKey: String!, $after: String) {
    teams(filter: { key: { eq: $teamKey } }, first: 1) {
      nodes { id key states(first: ${PAGE_SIZE}, after: $after) { nodes { id name type } pageInfo { hasNextPage endCursor } } }
    }
  }`,
  z.object({ teams: z.object({ nodes: z.array(z.object({ id: z.string(), key: z.string(), states: CONNECTION })) }) }),
);

// Linear API, "Filtering" and "Pagination": query `issues`.
export function issuesOperation(sizes: PageSizes, people: PeopleFields): GraphqlOperation<z.output<typeof CONNECTION_OF_ISSUES>> {
  return operation(
    `query Issues($filter: IssueFilter!, $first: Int!, $after: String) {
    issues(filter: $filter, first: $first, after: $after) {
      nodes { ${issueFields(sizes, people)} }
      pageInfo { hasNextPage endCursor }
    }
  }`,
    CONNECTION_OF_ISSUES,
  );
}

// Linear API, "Getting started": query `issue`. Unlike lists, it also finds what is archived or in the trash.
export const issueByIdOperation = (people: PeopleFields) =>
  operation(
    `query Issue($id: String!) {
    issue(id: $id) {
      ${issueFields(FULL_PAGE, people)}
      archivedAt trashed
      comments(first: ${PAGE_SIZE}, orderBy: createdAt) { ${commentFields(people)} }
    }
  }`,
    ISSUE_WITH_COMMENTS,
  );

// Linear API, "Pagination": query `issue`, its comments.
export const issueCommentsOperation = (people: PeopleFields) =>
  operation(
    `query IssueComments($id: String!, $after: String) {
    issue(id: $id) { id comments(first: ${PAGE_SIZE}, after: $after, orderBy: createdAt) { ${commentFields(people)} } }
  }`,
    COMMENTS_OF_ISSUE,
  );

// Linear API, "Filtering": query `issues`. Root `issue` is never null: a document that asks for many by alias is answered with nothing when one of them is missing.
export const STATES_BY_IDS = operation(
  `query StatesByIds($ids: [ID!]!, $first: Int!, $after: String) {
    issues(filter: { id: { in: $ids } }, first: $first, after: $after) {
      nodes { id state { name } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  CONNECTION_OF_ISSUES,
);

// Linear API, "Filtering": query `issues`. The remote cannot filter by identifier, only by what an identifier is made of.
export const STATES_BY_NUMBERS = operation(
  `query StatesByNumbers($teamKey: String!, $numbers: [Float!]!, $first: Int!, $after: String) {
    issues(filter: { team: { key: { eq: $teamKey } }, number: { in: $numbers } }, first: $first, after: $after) {
      nodes { id number state { name } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  CONNECTION_OF_ISSUES,
);

// Linear API, "Getting started": mutation `issueUpdate`.
export const UPDATE_ISSUE = operation(
  'mutation UpdateIssue($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }',
  z.object({ issueUpdate: UPDATED }),
);

// Linear API, "Getting started": mutation `commentCreate`.
export const CREATE_COMMENT = operation(
  'mutation CreateComment($input: CommentCreateInput!) { commentCreate(input: $input) { success } }',
  z.object({ commentCreate: UPDATED }),
);

// Linear API, "Filtering" and "Pagination": query `issueLabels`.
export const LABELS_BY_NAME = operation(
  `query LabelsByName($name: String!, $first: Int!, $after: String) {
    issueLabels(filter: { name: { eqIgnoreCase: $name } }, first: $first, after: $after) {
      nodes { id name isGroup team { key } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  z.object({ issueLabels: CONNECTION }),
);

// Linear API, "Getting started": mutation `issueLabelCreate`.
export const CREATE_LABEL = operation(
  'mutation CreateLabel($input: IssueLabelCreateInput!) { issueLabelCreate(input: $input) { success issueLabel { id } } }',
  z.object({ issueLabelCreate: UPDATED.extend({ issueLabel: z.object({ id: z.string() }).nullish() }) }),
);

// Linear API, "Filtering": query `issue`, its labels.
export const ISSUE_LABELS_BY_NAME = operation(
  `query IssueLabelsByName($id: String!, $name: String!, $after: String) {
    issue(id: $id) {
      id
      labels(filter: { name: { eqIgnoreCase: $name } }, first: ${PAGE_SIZE}, after: $after) {
        nodes { id name }
        pageInfo { hasNextPage endCursor }
      }
    }
  }`,
  z.object({ issue: z.object({ labels: CONNECTION }).nullable() }),
);

/** Every document the adapter can send. */
export const GRAPHQL_OPERATIONS = {
  VIEWER,
  TEAM_STATES,
  ISSUES: issuesOperation(FULL_PAGE, WITHOUT_PEOPLE),
  ISSUE_BY_ID: issueByIdOperation(WITHOUT_PEOPLE),
  ISSUE_COMMENTS: issueCommentsOperation(WITHOUT_PEOPLE),
  ISSUES_WITH_PEOPLE: issuesOperation(FULL_PAGE, WITH_PEOPLE),
  ISSUE_BY_ID_WITH_PEOPLE: issueByIdOperation(WITH_PEOPLE),
  ISSUE_COMMENTS_WITH_PEOPLE: issueCommentsOperation(WITH_PEOPLE),
  STATES_BY_IDS,
  STATES_BY_NUMBERS,
  UPDATE_ISSUE,
  CREATE_COMMENT,
  LABELS_BY_NAME,
  CREATE_LABEL,
  ISSUE_LABELS_BY_NAME,
} as const;
