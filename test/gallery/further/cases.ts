import type { FaultDraft } from '../../../src/core/faults/rule.ts'
import { run as callersKeyNeverSent } from './callers-key-never-sent.ts'
import { run as chunkTakenForLines } from './chunk-taken-for-lines.ts'
import type { Surroundings } from './client.ts'
import { run as firstPageOnly } from './first-page-only.ts'
import { run as invalidRequestRetried } from './invalid-request-retried.ts'
import { run as keyInTheUrl } from './key-in-the-url.ts'
import { run as pollWithoutPause } from './poll-without-pause.ts'
import { run as retryAfterInMilliseconds } from './retry-after-in-milliseconds.ts'
import { run as retryAfterOnlyOn429 } from './retry-after-only-on-429.ts'
import { run as staleWebhookAccepted } from './stale-webhook-accepted.ts'
import { run as streamLeftOpen } from './stream-left-open.ts'

/** A bug of a published client that is not in `test/gallery/clients`. */
interface FurtherCase {
  readonly name: string
  /** Repository and number of the issue or pull request, and its year. */
  readonly source: string
  readonly what: string
  /** Rules to arm; without any, the bug shows with the service as it is. */
  readonly faults: readonly FaultDraft[]
  /** What the report says of the client; nothing where only an adapter could tell. */
  readonly findings: readonly string[]
  readonly run: (surroundings: Surroundings) => Promise<unknown>
}

export const cases = [
  {
    name: 'retry-after-in-milliseconds',
    source: 'RevenueCat/purchases-ios#4100 (2024)',
    what: 'takes the seconds of Retry-After for milliseconds: waits a thousandth of what was asked',
    faults: [{ preset: 'rate-limited', when: { first: 2 } }],
    findings: ['warning wait.too-short'],
    run: retryAfterInMilliseconds,
  },
  {
    name: 'retry-after-only-on-429',
    source: 'segmentio/analytics-react-native#1294 (2026)',
    what: 'honours Retry-After of a 429 only: after a 503 with the header it uses its own shorter back-off',
    faults: [{ preset: 'unavailable-with-retry-after', when: { first: 2 } }],
    findings: ['warning wait.too-short'],
    run: retryAfterOnlyOn429,
  },
  {
    name: 'invalid-request-retried',
    source: 'bitrix24/b24jssdk#44 (2026)',
    what: 'sends a request that failed validation three times, because its code is in no list of final errors',
    faults: [],
    findings: ['warning retry.pointless'],
    run: invalidRequestRetried,
  },
  {
    name: 'callers-key-never-sent',
    source: 'fireblocks/fireblocks-sdk-py#97 (2023)',
    what: 'accepts an idempotency key and never sends it: the repetition that it should make safe creates twice',
    faults: [
      {
        match: { operation: 'batch-predictions.create' },
        times: 1,
        do: [{ cut: { at: 'after-handler', how: 'rst' } }],
      },
    ],
    findings: ['error key.missing'],
    run: callersKeyNeverSent,
  },
  {
    name: 'key-in-the-url',
    source: 'massive-com/client-js#108 (2022)',
    what: 'puts the API key into the query, and so into every log and error message with the URL',
    faults: [],
    findings: ['warning request.credential-in-url'],
    run: keyInTheUrl,
  },
  {
    name: 'stream-left-open',
    source: 'VoltAgent/voltagent#1365 (2026)',
    what: 'its iterator has no return(): a loop that ends early neither cancels nor reads the stream',
    faults: [{ preset: 'ndjson-stall-mid-stream', times: 3 }],
    findings: ['warning timeout.body', 'warning timeout.body'],
    run: streamLeftOpen,
  },
  {
    name: 'first-page-only',
    source: 'omnigent-ai/omnigent#5561 (2026)',
    what: 'returns the data of the first page and drops has_more: a cut list looks complete',
    faults: [],
    findings: ['note page.stopped-early'],
    run: firstPageOnly,
  },
  {
    name: 'poll-without-pause',
    source: 'crmitchelmore/justspeaktoit#886 (2026)',
    what: 'a poll interval of zero is not corrected: polls without pause until its time-out',
    faults: [],
    findings: ['note poll.too-fast'],
    run: pollWithoutPause,
  },
  {
    name: 'chunk-taken-for-lines',
    source: '0xPlaygrounds/rig#1758 (2026)',
    what: 'parses each chunk as whole lines: a line in two chunks ends the stream with a syntax error',
    faults: [{ preset: 'ndjson-line-split' }],
    findings: [],
    run: chunkTakenForLines,
  },
  {
    name: 'stale-webhook-accepted',
    source: 'flippercloud/flipper#1022 (2026)',
    what: 'checks the signature of a webhook and not its age: a recorded webhook can be sent again for ever',
    faults: [{ match: { webhook: '*' }, do: [{ deliver: { sign: 'old' } }] }],
    findings: ['warning webhook.unverified'],
    run: staleWebhookAccepted,
  },
] as const satisfies readonly FurtherCase[]

export type CaseName = (typeof cases)[number]['name']
