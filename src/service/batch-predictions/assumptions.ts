import { type Assumptions, inLog, inResponse, unnamedItem } from '../../core/assumptions.ts'
import {
  concurrencyPolicy,
  createRatePolicy,
  enqueuedItemsPolicy,
  globalCapacityPolicy,
} from './admission.ts'
import { notReadyStatus } from './errors.ts'
import { emptyCustomIds } from './items.ts'
import * as settings from './settings.ts'

/** The assumptions about batches where the specification leaves something open, and their settings. */
export const batchAssumptions: Assumptions = {
  items: [
    inResponse(
      'U010',
      'The fields of the error of a batch.',
      'Those of problem details: type, title, status and detail. The control API can give any object; under --strict it is empty.',
    ),
    inResponse(
      'U035',
      'The names of the item list and of the file reference.',
      'items and file_id, unless settings name others. Under --strict a creation returns 501 until both are set.',
    ),
    inResponse(
      'U036',
      'Which models exist.',
      'Any id that is not empty is accepted; with a list of models, unknown ids and those of another cloud are refused.',
    ),
    inResponse(
      'U037',
      'Which model a batch shows whose model id is deprecated.',
      'The requested one; the record holds the one that runs.',
    ),
    inResponse(
      'U038',
      'Which file formats have pages.',
      'The record of the file has its number of pages, or null for a format without pages.',
      'The record of each file decides it; the formats of the real service are not known.',
    ),
    inResponse(
      'U039',
      'How files are created, and the effect of an unknown file.',
      'Through fixtures and the control API; an item with an unknown file is invalid.',
    ),
    inResponse(
      'U040',
      'Which status each of the five errors of the result stream has.',
      'No key: the status in the setting status.unauthenticated. No such batch: status.not_found. Not terminal yet: status.results_not_ready. Results removed: 410. Rate limited: 429.',
    ),
    inResponse(
      'U041',
      'The response to a cancel of a finalizing, completed, failed or expired batch.',
      'It is refused with 409, so that a client notices; with a setting it returns the unchanged batch.',
    ),
    inResponse(
      'U042',
      'The response to reading results too early.',
      'A 409 problem; nothing is sent in part.',
    ),
    inResponse(
      'U047',
      'What results_url is relative to.',
      'The root of the server, so that it resolves against the address of any request.',
    ),
    inLog('U048', 'The order of result lines.', 'That of submission; a setting shuffles them.'),
    inResponse(
      'U049',
      'The problem in result lines of canceled and expired items.',
      'The words canceled and expired, with 422, the one status that the specification gives an item.',
    ),
    inResponse(
      'U050',
      'Whether a custom_id may be empty, and which characters it may have.',
      'Any characters, and at least one; batch.empty_custom_id also accepts the empty string. An id that begins with emu: decides the outcome of its item; under --strict it is plain text.',
      'A value that begins with emu: is only for the emulator.',
    ),
    inLog(
      'U054',
      'When a batch changes its status, and the outcomes of its items.',
      'After 2 s of validation, 200 ms per item with 50 at a time and 1 s of finalizing, every item having succeeded; all of it can be set for a sandbox or a batch.',
    ),
    inResponse(
      'U055',
      'Whether an invalid item fails the whole batch.',
      'It does, as the table of states says; with a setting, only the item is errored.',
    ),
    inResponse(
      'U056',
      'When results that may be removed are removed.',
      '29 days after creation to the millisecond; a setting delays it or leaves it to the control API.',
    ),
    unnamedItem(
      'U057',
      'How long a terminal batch can be retrieved.',
      'Always: nothing removes it.',
      'Nothing is removed, so no response depends on it.',
    ),
    inResponse(
      'U064',
      'Numbers of the admission policies, and the syntax of RateLimit and RateLimit-Policy.',
      'No policy is in force until a setting gives it numbers; the fields are structured as in the present IETF draft.',
    ),
    inResponse(
      'U079',
      'The outcome of a batch whose output_schema no value satisfies, or for which the emulator finds no output.',
      'It is accepted, since only the root type and seven keywords are restricted, and its items are errored; the detail names the keyword. A setting refuses it.',
    ),
    unnamedItem(
      'T12',
      'What is checked at creation and what while validating.',
      'At creation, everything that needs only the request; while validating, everything that needs the file.',
      'It is the order of checks; each refusal and each failed batch names what it relies on.',
    ),
    inResponse(
      'T13',
      'A window that ends while a batch is not in progress.',
      'Validating expires, finalizing completes and cancelling is cancelled; in_progress_at of the first stays null.',
    ),
    unnamedItem(
      'T14',
      'Two causes at one instant.',
      'Items finish first, then the batch is finalized, then the window ends, then requests are handled.',
      'It is the order of events of one millisecond; each of them is specified.',
    ),
    unnamedItem(
      'T15',
      'What happens between cancelling and cancelled.',
      'A cancel always shows cancelling; work stops at once and unfinished items are canceled a second later.',
      'It is the time and the items of a cancel; the states and their order are specified.',
    ),
    unnamedItem(
      'T16',
      'What the items of an expired batch count as.',
      'Finished ones keep their status, all others are expired.',
      'The counts have to add up to the total, so nothing else is possible.',
    ),
    inResponse(
      'T17',
      'Lines and counts of a failed batch.',
      'One line for each item: finished ones keep their status, the others are errored with the cause of the batch.',
    ),
    unnamedItem(
      'T18',
      'cancelled with two l and canceled with one.',
      'Both, each where the specification has it: the batch and its events, the counts and the lines.',
      'Both spellings are specified.',
    ),
    unnamedItem(
      'T19',
      'The 422 among the error conditions.',
      'The status field of an errored line; no response has it.',
      'The line of an errored item is specified.',
    ),
    inResponse(
      'T29',
      'Whether results_url contains /v1.',
      'It does (setting batch.results_url), so a client can resolve it against the URL of any request. If the path of a request selects the sandbox, it begins with /@name. For a batch that was created by such a request, every response has this /@name.',
    ),
    unnamedItem(
      'T38',
      'Which state of a batch a delivery shows.',
      'That of the instant at which it became terminal. A retry or a redelivery repeats it, also after the results were removed.',
      'A delivery is not a response; the response to retrieve shows the present state.',
    ),
    unnamedItem(
      'T39',
      'How the 100 MiB of a creation are counted.',
      'Bytes of the JSON after decoding, the last of the 104,857,600 included.',
      'Only a body of exactly the limit shows the difference; the 413 names the assumptions of its status.',
    ),
  ],
  settings: [
    notReadyStatus,
    settings.itemsName,
    settings.fileRefName,
    settings.windowRequired,
    emptyCustomIds,
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
    settings.unsatisfiable,
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
