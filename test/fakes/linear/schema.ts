import type { GraphQLSchema } from 'graphql';
import { buildSchema } from 'graphql';

// The part of the vendor's schema that the service and these tests use, in the vendor's own words. A test holds it against
// the published schema: every type, field, argument and nullability below is there too.
const PAGING = 'after: String, before: String, first: Int, includeArchived: Boolean, last: Int, orderBy: PaginationOrderBy';

const STRING_COMPARISONS = `
  contains: String containsIgnoreCase: String endsWith: String eq: String eqIgnoreCase: String in: [String!]
  neq: String neqIgnoreCase: String nin: [String!] notContains: String startsWith: String`;
const NUMBER_COMPARISONS = 'eq: Float gt: Float gte: Float in: [Float!] lt: Float lte: Float neq: Float nin: [Float!]';
const ID_COMPARISONS = 'eq: ID in: [ID!] neq: ID nin: [ID!]';

const SDL = `
  scalar DateTime
  scalar JSONObject
  enum PaginationOrderBy { createdAt updatedAt }
  enum PaginationSortOrder { Ascending Descending }
  enum IssueSharedAccessDisallowedField { cycleId projectId projectMilestoneId teamId }

  type Query {
    viewer: User!
    user(id: String!): User!
    team(id: String!): Team!
    teams(${PAGING}, filter: TeamFilter): TeamConnection!
    workflowState(id: String!): WorkflowState!
    workflowStates(${PAGING}, filter: WorkflowStateFilter): WorkflowStateConnection!
    issue(id: String!): Issue!
    issues(${PAGING}, filter: IssueFilter, sort: [IssueSortInput!]): IssueConnection!
    issueLabel(id: String!): IssueLabel!
    issueLabels(${PAGING}, filter: IssueLabelFilter): IssueLabelConnection!
  }

  type Mutation {
    issueUpdate(id: String!, input: IssueUpdateInput!): IssuePayload!
    commentCreate(input: CommentCreateInput!): CommentPayload!
    issueLabelCreate(input: IssueLabelCreateInput!, replaceTeamLabels: Boolean): IssueLabelPayload!
  }

  type PageInfo { endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String }

  type User { id: ID! name: String! displayName: String! email: String! createdAt: DateTime! updatedAt: DateTime! }
  type ActorBot { id: ID name: String type: String! }

  type Team {
    id: ID! key: String! name: String! createdAt: DateTime! updatedAt: DateTime!
    states(${PAGING}, filter: WorkflowStateFilter): WorkflowStateConnection!
    labels(${PAGING}, filter: IssueLabelFilter): IssueLabelConnection!
  }
  type TeamConnection { nodes: [Team!]! pageInfo: PageInfo! }

  type WorkflowState {
    id: ID! name: String! type: String! position: Float! color: String! team: Team! createdAt: DateTime! updatedAt: DateTime!
  }
  type WorkflowStateConnection { nodes: [WorkflowState!]! pageInfo: PageInfo! }

  type Issue {
    id: ID! identifier: String! number: Float! title: String! description: String priority: Float! branchName: String!
    url: String! createdAt: DateTime! updatedAt: DateTime! archivedAt: DateTime trashed: Boolean labelIds: [String!]!
    previousIdentifiers: [String!]! reactions: [Reaction!]! reactionData: JSONObject! sharedAccess: IssueSharedAccess!
    state: WorkflowState! team: Team! assignee: User creator: User parent: Issue
    labels(${PAGING}, filter: IssueLabelFilter): IssueLabelConnection!
    comments(${PAGING}, filter: CommentFilter): CommentConnection!
    inverseRelations(${PAGING}): IssueRelationConnection!
  }
  type IssueConnection { nodes: [Issue!]! pageInfo: PageInfo! }
  type IssueSharedAccess {
    disallowedIssueFields: [IssueSharedAccessDisallowedField!]! isShared: Boolean! sharedWithCount: Int!
    sharedWithUsers: [User!]! viewerHasOnlySharedAccess: Boolean!
  }
  type Reaction { id: ID! emoji: String! }

  type IssueRelation { id: ID! type: String! issue: Issue! relatedIssue: Issue! createdAt: DateTime! updatedAt: DateTime! }
  type IssueRelationConnection { nodes: [IssueRelation!]! pageInfo: PageInfo! }

  type IssueLabel {
    id: ID! name: String! color: String! isGroup: Boolean! team: Team parent: IssueLabel createdAt: DateTime! updatedAt: DateTime!
  }
  type IssueLabelConnection { nodes: [IssueLabel!]! pageInfo: PageInfo! }

  type Comment {
    id: ID! body: String! createdAt: DateTime! updatedAt: DateTime! url: String! user: User botActor: ActorBot issue: Issue
    reactions: [Reaction!]! reactionData: JSONObject!
  }
  type CommentConnection { nodes: [Comment!]! pageInfo: PageInfo! }

  type IssuePayload { issue: Issue lastSyncId: Float! success: Boolean! }
  type CommentPayload { comment: Comment! lastSyncId: Float! success: Boolean! }
  type IssueLabelPayload { issueLabel: IssueLabel! lastSyncId: Float! success: Boolean! }

  input StringComparator { ${STRING_COMPARISONS} }
  input NullableStringComparator { ${STRING_COMPARISONS} null: Boolean }
  input NumberComparator { ${NUMBER_COMPARISONS} }
  input NullableNumberComparator { ${NUMBER_COMPARISONS} null: Boolean }
  input BooleanComparator { eq: Boolean neq: Boolean }
  input IDComparator { ${ID_COMPARISONS} }
  input IssueIDComparator { ${ID_COMPARISONS} }

  input TeamFilter { and: [TeamFilter!] id: IDComparator key: StringComparator name: StringComparator or: [TeamFilter!] }
  input NullableTeamFilter {
    and: [NullableTeamFilter!] id: IDComparator key: StringComparator name: StringComparator null: Boolean or: [NullableTeamFilter!]
  }
  input WorkflowStateFilter {
    and: [WorkflowStateFilter!] id: IDComparator name: StringComparator or: [WorkflowStateFilter!] team: TeamFilter
    type: StringComparator
  }
  input NullableUserFilter {
    and: [NullableUserFilter!] displayName: StringComparator email: StringComparator id: IDComparator name: StringComparator
    null: Boolean or: [NullableUserFilter!]
  }
  input IssueLabelFilter {
    and: [IssueLabelFilter!] id: IDComparator isGroup: BooleanComparator name: StringComparator or: [IssueLabelFilter!]
    team: NullableTeamFilter
  }
  input IssueLabelCollectionFilter {
    and: [IssueLabelCollectionFilter!] every: IssueLabelFilter id: IDComparator length: NumberComparator name: StringComparator
    or: [IssueLabelCollectionFilter!] some: IssueLabelFilter
  }
  input IssueFilter {
    and: [IssueFilter!] assignee: NullableUserFilter description: NullableStringComparator id: IssueIDComparator
    labels: IssueLabelCollectionFilter number: NumberComparator or: [IssueFilter!] priority: NullableNumberComparator
    state: WorkflowStateFilter team: TeamFilter title: StringComparator
  }
  input CommentFilter { and: [CommentFilter!] body: StringComparator id: IDComparator or: [CommentFilter!] }
  input CreatedAtSort { order: PaginationSortOrder }
  input IssueSortInput { createdAt: CreatedAtSort }

  input IssueUpdateInput {
    addedLabelIds: [String!] description: String labelIds: [String!] priority: Int removedLabelIds: [String!] stateId: String
    title: String
  }
  input CommentCreateInput { body: String issueId: String }
  input IssueLabelCreateInput { color: String description: String isGroup: Boolean name: String! parentId: String teamId: String }
`;

export const OWN_SCHEMA: GraphQLSchema = buildSchema(SDL);
