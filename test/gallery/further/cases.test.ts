import { expect, test } from 'vitest'
import { startEmulator } from '../../../src/index.ts'
import { cases } from './cases.ts'

const SECRET = 'webhook-secret'
const SIGNATURE = {
  'webhooks.signature': {
    header: 'X-Signature',
    secret: SECRET,
    prefix: 'sha256=',
    timestamp_header: 'X-Timestamp',
  },
}

test.for(cases)('the report on $name ($source) has its findings', async ({ faults, findings, run }) => {
  await using emulator = await startEmulator({
    port: 0,
    ephemeral: true,
    rate: 0,
    clock: '2026-03-01T12:00:00Z',
    settings: SIGNATURE,
  })
  const { defaultSandbox: sandbox } = emulator
  for (const fault of faults) await sandbox.faults.arm(fault)
  await run({
    baseUrl: sandbox.baseUrl,
    apiKey: sandbox.apiKey,
    sleep: async (ms) => void (await sandbox.clock.advance(`${Math.round(ms)}ms`)),
    webhooks: { secret: SECRET, subscribe: (url) => sandbox.webhooks.create({ url }) },
  }).catch(() => {})
  expect((await sandbox.faults.list()).filter(({ fired }) => fired === 0)).toEqual([])
  const found = (await sandbox.conduct()).findings.map(({ severity, code }) => `${severity} ${code}`)
  expect(found).toEqual(findings)
})
