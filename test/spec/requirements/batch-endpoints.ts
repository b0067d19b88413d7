import type { Requirement } from './requirement.ts'

/** R198 to R225. The batch endpoints, success statuses, and the endpoints without a contract. */
export const batchEndpoints = [
  {
    id: 'R198',
    section: 'Endpoints / Create batch prediction',
    description: '`Idempotency-Key` may be left out, and then two equal creates make two batches.',
  },
  {
    id: 'R199',
    section: 'Endpoints / Create batch prediction',
    description: 'A batch has one `prompt` for all items, and it must be a string.',
  },
  {
    id: 'R200',
    section: 'Endpoints / Create batch prediction',
    description:
      'The `output_schema` of a batch is an object in JSON Schema 2020-12 whose root has the type `object`.',
  },
  {
    id: 'R201',
    section: 'Endpoints / Create batch prediction',
    description:
      'The `model` of a batch is a string, and with a configured model list an unknown id is refused.',
  },
  {
    id: 'R202',
    section: 'Endpoints / Create batch prediction',
    description: 'A create accepts the `completion_window` `24h` and no other value.',
  },
  {
    id: 'R203',
    section: 'Endpoints / Create batch prediction',
    description: 'The `metadata` of a create is a map whose values are strings.',
  },
  {
    id: 'R204',
    section: 'Endpoints / Create batch prediction',
    description:
      'An item has a file reference, a string `custom_id` and optionally `page`, an integer from 1 upward.',
  },
  {
    id: 'R205',
    section: 'Endpoints / Create batch prediction',
    description:
      '`cloud_a` accepts natively served models only; `cloud_b` accepts other batch-capable ones and refuses ids exclusive to `cloud_a`.',
  },
  {
    id: 'R206',
    section: 'Endpoints / Create batch prediction',
    description: 'A deprecated fast-tier model id is accepted and runs as the configured lite-tier model.',
  },
  {
    id: 'R207',
    section: 'Endpoints / Create batch prediction',
    description: 'Batch creation responds with a complete batch, and with problem details on 409 and 429.',
  },
  {
    id: 'R208',
    section: 'Endpoints / Retrieve batch prediction',
    description: 'Retrieve returns the object that the webhook of the same instant delivers.',
  },
  {
    id: 'R209',
    section: 'Endpoints / Retrieve batch prediction',
    description:
      'Retrieving a batch any number of times at one instant returns the same body and changes nothing.',
  },
  {
    id: 'R210',
    section: 'Endpoints / Retrieve batch prediction',
    description: 'A terminal batch can be retrieved for good, also after its results were cleaned up.',
  },
  {
    id: 'R211',
    section: 'Endpoints / Retrieve batch prediction results',
    description:
      'Results have the content type `application/x-ndjson` and are lines of objects, not an array.',
  },
  {
    id: 'R212',
    section: 'Endpoints / Retrieve batch prediction results',
    description:
      'Each non-empty results line parses on its own, since line breaks inside values are escaped.',
  },
  {
    id: 'R213',
    section: 'Endpoints / Retrieve batch prediction results',
    description:
      'In every terminal state the results hold a line for each submitted item, and each `custom_id` once.',
  },
  {
    id: 'R214',
    section: 'Endpoints / Retrieve batch prediction results',
    description:
      'Results of a batch that is not terminal are refused with problem details, never given in part.',
  },
  {
    id: 'R215',
    section: 'Endpoints / Retrieve batch prediction results',
    description: 'Results are readable up to cleanup and respond with 410 with problem details after it.',
  },
  {
    id: 'R216',
    section: 'Endpoints / Retrieve batch prediction results',
    description: 'Results that are read again, even after a restart, are the same bytes.',
  },
  {
    id: 'R217',
    section: 'Endpoints / Retrieve batch prediction results',
    description:
      'Results of 5,000 items stream with bounded memory to slow readers and to readers that leave early.',
  },
  {
    id: 'R218',
    section: 'Endpoints / Cancel batch prediction',
    description:
      'The cancel endpoint accepts a batch in `validating` or `in_progress` and shows it as `cancelling`.',
  },
  {
    id: 'R219',
    section: 'Endpoints / Cancel batch prediction',
    description: 'The cancel endpoint answers a repeated cancel with success and an unaltered batch.',
  },
  {
    id: 'R220',
    section: 'Endpoints / Cancel batch prediction',
    description:
      'A batch that is finalizing, completed, failed or expired is not changed by a cancel request.',
  },
  {
    id: 'R221',
    section: 'Endpoints / Cancel batch prediction',
    description:
      "A cancel and the batch's end that fall on one instant produce exactly one terminal state and one event.",
  },
  {
    id: 'R222',
    section: 'Endpoints / Success status codes',
    description:
      'Successful feedback is 204; each other endpoint succeeds with the 2xx status that its setting names.',
  },
  {
    id: 'R223',
    section: 'Endpoints / Endpoints named without a contract',
    description:
      'A named endpoint without a contract answers from the records of the sandbox, else 501; a path that is not named is a 404.',
  },
  {
    id: 'R224',
    section: 'Endpoints / Endpoints named without a contract',
    description:
      '`GET /conversations` accepts an optional `has_messages` in its query and hands it on to whatever answers.',
  },
  {
    id: 'R225',
    section: 'Endpoints / Endpoints named without a contract',
    description:
      'Deleting the root conversation of a channel of any of the three kinds is a 400, and the conversation remains.',
  },
] as const satisfies readonly Requirement[]
