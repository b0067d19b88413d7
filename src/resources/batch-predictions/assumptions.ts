import type { Assumptions, OpenItem } from '../../kernel/assumptions.ts'
import {
  concurrencyPolicy,
  createRatePolicy,
  enqueuedItemsPolicy,
  globalCapacityPolicy,
} from './admission.ts'
import * as settings from './settings.ts'

const item =
  (shows: OpenItem['shows']) =>
  (id: string, open: string, reading: string): OpenItem => ({ id, open, reading, shows })

const shown = item('answer')
const universal = item('log')
const silent = item('nowhere')

/** What the specification leaves open about batches, and the choices that a user has. */
export const batchAssumptions: Assumptions = {
  items: [
    shown(
      'U010',
      'The members of the error of a batch.',
      'Those of problem details: type, title, status and detail; the control API may give any object, and under --strict it is empty.',
    ),
    shown(
      'U035',
      'The names of the item list and of the file reference.',
      'items and file_id until settings say otherwise; under --strict a creation answers 501 until both are set.',
    ),
    shown(
      'U036',
      'Which models exist.',
      'Any id that is not empty is accepted; with a list of models, unknown ids and those of another cloud are refused.',
    ),
    shown(
      'U037',
      'Which model a batch shows whose model id is deprecated.',
      'The one that was asked for; the record holds the one that runs.',
    ),
    shown(
      'U038',
      'Which file formats have pages.',
      'The file says: its number of pages, or null for a format without pages.',
    ),
    shown(
      'U039',
      'How files come to exist, and what an unknown one does.',
      'Through fixtures and the control API; an item with an unknown file does not validate.',
    ),
    shown(
      'U040',
      'The five problems of the result stream.',
      'No key, no such batch, not terminal yet, removed, and rate limited; each with the status of its setting.',
    ),
    shown(
      'U041',
      'What a cancel of a finalizing, completed, failed or expired batch does.',
      'It is refused with 409, so that a client notices; a setting answers with the unchanged batch.',
    ),
    shown('U042', 'The answer to reading results too early.', 'A 409 problem; nothing is sent in part.'),
    shown(
      'U047',
      'What results_url is relative to.',
      'The root of the server, so that it resolves against the address of any request.',
    ),
    universal('U048', 'The order of result lines.', 'That of submission; a setting shuffles them.'),
    shown(
      'U049',
      'The problem in result lines of canceled and expired items.',
      'The words canceled and expired, with 422, the one status that the specification gives an item.',
    ),
    silent(
      'U050',
      'Whether a custom_id may be empty, and which characters it may have.',
      'Any characters, and at least one; a setting accepts the empty string. What begins with emu: asks for a fault and is plain text under --strict.',
    ),
    universal(
      'U054',
      'When a batch moves on, and what becomes of its items.',
      'After 2 s of validation, 200 ms per item with 50 at a time and 1 s of finalizing, every item having succeeded; all of it can be set for a world or a batch.',
    ),
    shown(
      'U055',
      'Whether an item that does not validate fails the whole batch.',
      'It does, as the table of states says; a setting makes only the item errored.',
    ),
    shown(
      'U056',
      'When results that may be removed are removed.',
      '29 days after creation to the millisecond; a setting delays it or leaves it to the control API.',
    ),
    silent('U057', 'How long a terminal batch can be retrieved.', 'For good: nothing ever removes it.'),
    shown(
      'U064',
      'Numbers of the admission policies, and the syntax of RateLimit and RateLimit-Policy.',
      'No policy is in force until a setting gives it numbers; the fields are structured as in the present IETF draft.',
    ),
    silent(
      'T12',
      'What is checked at creation and what while validating.',
      'At creation what the request alone tells; while validating what needs the file.',
    ),
    shown(
      'T13',
      'A window that ends while a batch is not in progress.',
      'Validating expires, finalizing completes and cancelling is cancelled; in_progress_at of the first stays null.',
    ),
    silent(
      'T14',
      'Two causes at one instant.',
      'Items finish first, then the batch is finalized, then the window ends, then requests are heard.',
    ),
    silent(
      'T15',
      'What happens between cancelling and cancelled.',
      'A cancel always shows cancelling; work stops at once and unfinished items are canceled a second later.',
    ),
    silent(
      'T16',
      'What the items of an expired batch count as.',
      'Finished ones keep their status, all others are expired.',
    ),
    shown(
      'T17',
      'Lines and counts of a failed batch.',
      'One line for each item: finished ones keep their status, the others are errored with the cause of the batch.',
    ),
    silent(
      'T18',
      'cancelled with two l and canceled with one.',
      'Both, each where the specification has it: the batch and its events, the counts and the lines.',
    ),
    silent(
      'T19',
      'The 422 among the error conditions.',
      'The status member of an errored line; no request is answered with it.',
    ),
    silent(
      'T29',
      'Whether results_url contains /v1.',
      'It does, so that it resolves against the address of any request; where the path chooses the sandbox, its /@name comes first, and who created it by path sees it everywhere.',
    ),
    silent(
      'T38',
      'Which state of a batch a delivery shows.',
      'That of the instant at which it became terminal: a retry or a redelivery repeats it, also when the results have gone since.',
    ),
    silent(
      'T39',
      'What the 100 MiB of a creation are counted in.',
      'Bytes of the JSON after decoding, the last of the 104,857,600 included.',
    ),
  ],
  settings: [
    settings.itemsName,
    settings.fileRefName,
    settings.windowRequired,
    settings.emptyCustomIds,
    settings.models,
    settings.modelEcho,
    settings.unknownFiles,
    settings.itemValidation,
    settings.defaultPace,
    settings.defaultOutcomes,
    settings.cancelDelay,
    settings.cancelInFlight,
    settings.cancelTerminal,
    settings.expireInValidating,
    settings.failedItems,
    settings.batchError,
    settings.cleanup,
    settings.resultsUrlBase,
    settings.resultsOrder,
    settings.canceledProblem,
    settings.expiredProblem,
    concurrencyPolicy,
    enqueuedItemsPolicy,
    createRatePolicy,
    globalCapacityPolicy,
  ],
}
