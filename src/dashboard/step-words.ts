import type { Output } from './api.ts'

type Step = Output<'GET /explain/{request_id}'>['steps'][number]['step']

/** What each step of a request does. */
export const STEP_WORDS: Readonly<Record<Step, string>> = {
  receive: 'The server reads the request and chooses its sandbox.',
  route: 'Method and path choose the operation.',
  runDueEvents: 'Every event that is due by now happens first, such as a batch that completes.',
  authenticate: 'The API key decides who the caller is.',
  rateLimit: 'The request is counted in its rate window, which refuses it when it is full.',
  checkPathIds: 'The ids in the path must have the right form.',
  authorize: 'The caller must have the permission for the operation.',
  faultsBefore: 'Fault rules that act before the handler can delay, replace or cut the response.',
  loadTarget: 'The record that the path names must exist, and the caller must see it.',
  replay: 'A known Idempotency-Key gets the response of its first request again.',
  validate: 'Query and body must satisfy the schema of the operation.',
  poll: 'A read of a batch counts as a poll, which can move the batch to its next state.',
  handle: 'The operation does its work.',
  commit: 'The changes are stored, all of them or none.',
  faultsAfter: 'Fault rules that act after the handler can change, delay or cut the response.',
  log: 'The request and its response are added to the log.',
}
