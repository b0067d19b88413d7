import type { Requirement } from './requirement.ts'

/** R076 to R120. The batch and its result lines, and the states of every resource. */
export const batches = [
  {
    id: 'R076',
    section: 'Resources and their fields / Batch prediction',
    description:
      'A batch has `object: "batch_prediction"` and one id on which create, retrieve, cancel and webhook agree.',
  },
  {
    id: 'R077',
    section: 'Resources and their fields / Batch prediction',
    description:
      'The `status` of a batch is one of eight words, with `cancelling` and `cancelled` spelled with a double l.',
  },
  {
    id: 'R078',
    section: 'Resources and their fields / Batch prediction',
    description: 'The `model` of a batch is the accepted model id and holds for each of its items.',
  },
  {
    id: 'R079',
    section: 'Resources and their fields / Batch prediction',
    description: 'Every batch shows `completion_window: "24h"`.',
  },
  {
    id: 'R080',
    section: 'Resources and their fields / Batch prediction',
    description: 'The `created_at` of a batch is the virtual instant of acceptance and never moves.',
  },
  {
    id: 'R081',
    section: 'Resources and their fields / Batch prediction',
    description:
      'The `expires_at` of a batch lies exactly 86,400 seconds after `created_at` and never moves.',
  },
  {
    id: 'R082',
    section: 'Resources and their fields / Batch prediction',
    description:
      'Each of the seven state timestamps of a batch is null before that state is reached and a timestamp from then on.',
  },
  {
    id: 'R083',
    section: 'Resources and their fields / Batch prediction',
    description:
      'A state timestamp that is set keeps its value, and the timestamps of a batch follow the order of its states.',
  },
  {
    id: 'R084',
    section: 'Resources and their fields / Batch prediction',
    description:
      'The set of non-null state timestamps is exactly that of the path taken: a batch cancelled while validating has no `in_progress_at`.',
  },
  {
    id: 'R085',
    section: 'Resources and their fields / Batch prediction',
    description: '`request_counts` has six non-negative integers, among them `canceled` with a single l.',
  },
  {
    id: 'R086',
    section: 'Resources and their fields / Batch prediction',
    description: 'The five partial counts of a batch add up to `total` in every response and delivery.',
  },
  {
    id: 'R087',
    section: 'Resources and their fields / Batch prediction',
    description: 'The `total` of a batch is the number of items that were submitted and stays constant.',
  },
  {
    id: 'R088',
    section: 'Resources and their fields / Batch prediction',
    description:
      'Over the life of a batch `succeeded` and `errored` never fall and `processing` never rises.',
  },
  {
    id: 'R089',
    section: 'Resources and their fields / Batch prediction',
    description: 'A batch that is finalizing or terminal has a `processing` count of zero.',
  },
  {
    id: 'R090',
    section: 'Resources and their fields / Batch prediction',
    description:
      'The `metadata` of a batch comes back equal to what was sent, even under keys such as `__proto__`.',
  },
  {
    id: 'R091',
    section: 'Resources and their fields / Batch prediction',
    description:
      'The `error` of a batch is an object when it failed, expired or was cancelled, and null in each other state.',
  },
  {
    id: 'R092',
    section: 'Resources and their fields / Batch prediction',
    description:
      'The `results_url` of a terminal batch is a relative URL that leads to its results; before that it is null.',
  },
  {
    id: 'R093',
    section: 'Resources and their fields / Batch prediction',
    description: 'Cleanup sets the `results_url` of a batch to null, and it never returns.',
  },
  {
    id: 'R094',
    section: 'Resources and their fields / Batch prediction result line',
    description: 'Every result line has the constant `object: "batch_prediction.result"`.',
  },
  {
    id: 'R095',
    section: 'Resources and their fields / Batch prediction result line',
    description: 'The `batch_id` of every result line is the id of the batch that was asked for.',
  },
  {
    id: 'R096',
    section: 'Resources and their fields / Batch prediction result line',
    description: 'The `custom_id` of a result line equals the submitted one byte for byte.',
  },
  {
    id: 'R097',
    section: 'Resources and their fields / Batch prediction result line',
    description:
      "The `status` of a result line is `succeeded`, `errored`, `canceled` or `expired`, and the tally per status equals the batch's counts.",
  },
  {
    id: 'R098',
    section: 'Resources and their fields / Batch prediction result line',
    description:
      'The `output` of a result line is an object when the item succeeded and null otherwise, never absent.',
  },
  {
    id: 'R099',
    section: 'Resources and their fields / Batch prediction result line',
    description:
      'The `error` of a result line is null on success and otherwise an object of exactly `type`, `title`, `status` and `detail`.',
  },
  {
    id: 'R100',
    section: 'Resources and their fields / Batch prediction result line',
    description: 'The `output` of a succeeded line satisfies the `output_schema` of its batch.',
  },
  {
    id: 'R101',
    section: 'Resources and their fields / Other resources',
    description:
      'Resources without shown fields come back member for member as the fixture gave them, with nothing added.',
  },
  {
    id: 'R102',
    section: 'States and transitions / Batch prediction',
    description: 'A batch that was just accepted is `validating` and has none of its state timestamps.',
  },
  {
    id: 'R103',
    section: 'States and transitions / Batch prediction',
    description:
      'File access, file type and page reference are examined while validating, and a bad one ends the batch as `failed`.',
  },
  {
    id: 'R104',
    section: 'States and transitions / Batch prediction',
    description:
      'Cancelling during validation or processing makes the batch `cancelling`, sets `cancelling_at` and stops the remaining work.',
  },
  {
    id: 'R105',
    section: 'States and transitions / Batch prediction',
    description:
      'Cancelling a batch that is `cancelling` or `cancelled` returns it unchanged and causes no second event.',
  },
  {
    id: 'R106',
    section: 'States and transitions / Batch prediction',
    description: 'A failure during validation or processing makes the batch `failed` and sets `failed_at`.',
  },
  {
    id: 'R107',
    section: 'States and transitions / Batch prediction',
    description:
      'A batch in progress with unfinished items becomes `expired` at the very instant of `expires_at`, not a millisecond before.',
  },
  {
    id: 'R108',
    section: 'States and transitions / Batch prediction',
    description:
      'A batch whose items are all done in time completes, even when finalizing reaches past the end of the window.',
  },
  {
    id: 'R109',
    section: 'States and transitions / Batch prediction',
    description:
      'Items gain a result only while the batch is in progress, or in flight during cancelling; the counts stand still in other states.',
  },
  {
    id: 'R110',
    section: 'States and transitions / Batch prediction',
    description: 'A batch enters `finalizing` only once every item has a result.',
  },
  {
    id: 'R111',
    section: 'States and transitions / Batch prediction',
    description: 'A batch whose every item errored still ends `completed`, with a null `error`.',
  },
  {
    id: 'R112',
    section: 'States and transitions / Batch prediction',
    description: 'A cancelled batch keeps the results of its finished items, and the others are `canceled`.',
  },
  {
    id: 'R113',
    section: 'States and transitions / Batch prediction',
    description: 'A terminal batch never changes again, apart from losing its `results_url` at cleanup.',
  },
  {
    id: 'R114',
    section: 'States and transitions / Batch prediction',
    description:
      'No batch ever makes a move that is neither in the specified table nor in the recorded assumptions.',
  },
  {
    id: 'R115',
    section: 'States and transitions / Batch prediction',
    description:
      'The states through which a batch is seen to go form a connected path, none of them left out.',
  },
  {
    id: 'R116',
    section: 'States and transitions / Other resources',
    description: 'Setting `enabled` to false pauses a trigger, so that a later matching event runs nothing.',
  },
  {
    id: 'R117',
    section: 'States and transitions / Other resources',
    description:
      'Setting `enabled` to true resumes a trigger for later events without catching up on the missed ones.',
  },
  {
    id: 'R118',
    section: 'States and transitions / Other resources',
    description: 'Promotion takes a skill from scope `user` to `account` for an author who is account admin.',
  },
  {
    id: 'R119',
    section: 'States and transitions / Other resources',
    description:
      'A claim token yields its template once; of any number of further or simultaneous claims none succeeds.',
  },
  {
    id: 'R120',
    section: 'States and transitions / Other resources',
    description:
      'A deleted automation no longer fires or shows in list and retrieve, while the history of its runs remains.',
  },
] as const satisfies readonly Requirement[]
