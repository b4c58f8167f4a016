import { GraphQLError } from 'graphql';

/** What is the remote's own fault, or nobody's. */
const NOT_THE_USERS: readonly string[] = ['internal error', 'network error', 'lock timeout', 'bootstrap error', 'ratelimited'];

/** An error in the vendor's envelope. Most are answered with HTTP 200. */
export function remoteError(message: string, type: string, more: Readonly<Record<string, unknown>> = {}): GraphQLError {
  const code = type.toUpperCase().replaceAll(' ', '_');
  const extensions = { type, code, userError: !NOT_THE_USERS.includes(type), ...more };
  return new GraphQLError(message, { extensions });
}

export function notFound(entity: string): GraphQLError {
  return remoteError(`Entity not found: ${entity}`, 'invalid input', {
    code: 'INPUT_ERROR',
    statusCode: 400,
    userPresentableMessage: `Could not find referenced ${entity}.`,
  });
}

export function invalidInput(userPresentableMessage: string, message = 'Argument Validation Error'): GraphQLError {
  return remoteError(message, 'invalid input', { code: 'INVALID_INPUT', statusCode: 400, userPresentableMessage });
}

export function notAuthenticated(message = 'Authentication required, not authenticated'): GraphQLError {
  const userPresentableMessage = 'You need to authenticate to access this operation.';
  return remoteError(message, 'authentication error', { statusCode: 401, userPresentableMessage });
}

export function forbidden(userPresentableMessage: string): GraphQLError {
  return remoteError('Forbidden', 'forbidden', { statusCode: 403, userPresentableMessage });
}

/** The body of an answer that holds nothing but errors, for tests that let the remote fail. */
export function errorBody(error: GraphQLError): object {
  return { errors: [error.toJSON()], data: null };
}
