import type { Principal, ReportedRequest, RequestAnswer } from '../../../contracts/index.ts';
import { visible } from '../../../session/index.ts';
import { cardUri } from '../wire/index.ts';
import type { FormQuestion, Reply } from './questions.ts';
import { formQuestion } from './questions.ts';

/** A question whose answer is given on a page that the client opens: what is secret passes neither client nor model. */
export interface UrlQuestion {
  request: ReportedRequest;
  address: { message: string; url: string };
}

export type ClientQuestion = FormQuestion | UrlQuestion;

/** How a client says that it can ask its user. */
export interface AskingModes {
  form: boolean;
  url: boolean;
  /** It shows cards of calls beside their questions. */
  card?: boolean;
}

export const isUrlQuestion = (question: ClientQuestion): question is UrlQuestion => 'address' in question;

/** The question as this client can put it; a sentence where it cannot, or may not. */
export function clientQuestion(
  request: ReportedRequest,
  principal: Principal,
  modes: AskingModes,
): ClientQuestion | string {
  if (request.elicitation === 'auth_required' && modes.url) {
    const url = addressIn(request.context?.url);
    const message = visible(request.message ?? `${request.agentPath.at(-1)} needs a credential`);
    if (url !== undefined) return { request, address: { message, url } };
  }
  const question = formQuestion(request, principal);
  if (typeof question === 'string') return question;
  if (!modes.form) return 'the client cannot ask its user';
  if (!modes.card || !request.approval) return question;
  return { ...question, form: { ...question.form, _meta: { ui: { resourceUri: cardUri(request) } } } };
}

/** A refusal is an answer. Consent to open a page is none: what is given there is, by whoever has the page. */
export function answerOfAddress({ action }: Reply, by: Principal): RequestAnswer | undefined {
  return action === 'accept' ? undefined : { kind: 'elicitation', action, by };
}

/** Where a person may be led: a page that nobody on the way can read or change, without somebody's name in it. */
function addressIn(given: unknown): string | undefined {
  if (typeof given !== 'string' || !URL.canParse(given)) return undefined;
  const { protocol, hostname, username, password, href } = new URL(given);
  const isHere = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isHere)) return undefined;
  return username === '' && password === '' ? href : undefined;
}
