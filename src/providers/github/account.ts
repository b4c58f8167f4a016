import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { readViewer } from './graphql.ts';
import { ACCOUNT_LOGIN } from './schema.ts';

/** The answers to a token that may not ask the REST side for its own account, such as that of an app's installation. */
const NOT_FOR_IT: readonly (number | undefined)[] = [403, 404];

/** The login of the token's account, from whichever side tells it. */
export async function readOwnLogin(http: TrackerHttp, graphql: TrackerHttp, signal: AbortSignal): Promise<string> {
  try {
    // REST API, "Get the authenticated user".
    return (await http.getJson(ACCOUNT_LOGIN, { path: '/user' }, signal)).login;
  } catch (error) {
    if (!(error instanceof TrackerError) || !NOT_FOR_IT.includes(error.status) || error.isLimit) throw error;
    return readViewer(graphql, signal).catch((other: unknown) => {
      // One that may heal is tried again; otherwise the first answer is the telling one.
      throw other instanceof TrackerError && !other.retryable ? error : other;
    });
  }
}
