import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Emulator, type FaultDraft, type SandboxClient, startEmulator } from '../../../src/index.ts'
import * as clients from './clients.ts'

let emulator: Emulator
beforeAll(async () => {
  emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
})
afterAll(() => emulator.close())

/** A bug of a published client: an attempt that is changed, or a request that is repeated for ever. */
interface AttemptCase {
  /** Repository and number of the issue or pull request, and its year. */
  readonly source: string
  readonly run: (call: clients.Call) => Promise<unknown>
  readonly faults: readonly FaultDraft[]
  /** Default: the key that may do everything. */
  readonly apiKey?: string
  /** Happens in each pause of the client; `n` from 1. */
  readonly meanwhile?: (sandbox: SandboxClient, n: number) => Promise<unknown>
  readonly finding: string
  readonly message: RegExp
}

const once = (preset: string) => [{ preset, times: 1 }]

async function deleteBatch(sandbox: SandboxClient, n: number) {
  const [batch] = n === 3 ? await sandbox.state.list('batch_predictions') : []
  if (batch !== undefined) await sandbox.state.delete('batch_predictions', String(batch.id))
}

/** Eight bugs from public issue trackers, beside those of the gallery and of the folder further. */
const cases: readonly AttemptCase[] = [
  {
    source: 'sentinel-hub/sentinelhub-js#295 (2025)',
    run: clients.bodyEncodedAgain,
    faults: once('server-error'),
    finding: 'warning body.changed',
    message: /its body was encoded as JSON twice\.$/,
  },
  {
    source: 'wojtekmach/req#140 (2022)',
    run: clients.queryAppended,
    faults: once('server-error'),
    finding: 'warning request.changed',
    message: /the request had its query twice\.$/,
  },
  {
    source: 's3fs-fuse/s3fs-fuse#2937 (2026)',
    run: clients.keyRemoved,
    faults: once('server-error'),
    finding: 'warning request.changed',
    message: /the request had no Authorization header\.$/,
  },
  {
    source: 'influxdata/ui#1475 (2021)',
    run: clients.typeLost,
    faults: once('server-error'),
    finding: 'warning request.changed',
    message: /had the content-type text\/plain;charset=UTF-8, after application\/json\.$/,
  },
  {
    source: 'FlowFuse/flowfuse#3712 (2024)',
    run: clients.deletedRecordPolled,
    faults: [{ preset: 'batch-stuck' }],
    meanwhile: deleteBatch,
    finding: 'warning retry.pointless',
    message: /404, although the record had answered before; the client sent it 37 times\.$/,
  },
  {
    source: 'medplum/medplum#9680 (2026)',
    run: clients.refusedKeySentAgain,
    faults: [],
    apiKey: 'live_evicted',
    finding: 'warning retry.pointless',
    message: /401, which a repetition cannot change; the client sent it 6 times\.$/,
  },
  {
    source: 'NERSC/sfapi_client#15 (2023)',
    run: clients.refusalRepeated,
    faults: [{ match: { operation: 'data-views.list' }, do: [{ respond: { status: 403 } }] }],
    finding: 'warning retry.pointless',
    message: /403, which a repetition cannot change; the client sent it 5 times\.$/,
  },
  {
    source: 'boto/botocore#3778 (2026)',
    run: clients.cursorCycleFollowed,
    faults: [{ preset: 'page-cursor-cycle' }],
    finding: 'error page.loop',
    message: /leads back to itself, 8 times after it had seen its page\.$/,
  },
]

/** The findings about a client, notes apart. */
async function findingsOf({ run, faults, meanwhile, ...each }: AttemptCase, isRepaired: boolean) {
  await using sandbox = await emulator.sandbox()
  for (const fault of faults) await sandbox.faults.arm(fault)
  let pauses = 0
  const sleep = async (ms: number) => {
    await meanwhile?.(sandbox, ++pauses)
    await sandbox.clock.advance(`${ms}ms`)
  }
  const apiKey = each.apiKey ?? sandbox.apiKey
  await run({ baseUrl: sandbox.baseUrl, apiKey, sleep, isRepaired }).catch(() => {})
  const { findings } = await sandbox.conduct()
  return findings.filter(({ severity }) => severity !== 'note')
}

test('there are eight', () => {
  expect(new Set(cases.map(({ source }) => source)).size).toBe(8)
  expect(cases.map(({ run }) => run)).toEqual(Object.values(clients))
})

test.for(cases)('the client of $source has its finding, and none when it is repaired', async (each) => {
  const found = await findingsOf(each, false)
  expect(found.map(({ severity, code }) => `${severity} ${code}`)).toEqual([each.finding])
  expect(found[0]?.message).toMatch(each.message)
  expect(await findingsOf(each, true)).toEqual([])
})
