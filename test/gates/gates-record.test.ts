import { expect, test } from 'vitest'
import { aBatch, aPage, connect, startEmulator } from '../../src/index.ts'
import { replayBundle } from '../../src/tools/replay/run.ts'
import { temporaryDirectory } from '../cli/in-process.ts'

test('a recording with gates replays: each request is where its steps ran, with the id of its arrival', async () => {
  await using own = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  const { defaultSandbox: sandbox } = connect(own.url)
  const page = () => sandbox.fetch('/pages', { json: aPage() }).catch(() => 'cut')
  const gate = await sandbox.gates.hold({ operation: 'pages.create' }, { at: 'before-handler' })
  const a = page()
  const [first] = await gate.waiting()
  const b = page()
  const [, second] = await gate.waiting(2)
  await sandbox.fetch('/batch-predictions', { json: aBatch() })
  await gate.release({ requests: [second ?? ''] })
  await b
  await sandbox.clock.advance('1h')
  await gate.release({ requests: [first ?? ''] })
  await a
  const aborted = page()
  await gate.waiting()
  await gate.abort()
  expect(await aborted).toBe('cut')
  await gate.remove()
  const after = await sandbox.gates.hold({ operation: 'pages.create' }, { at: 'after-handler' })
  for (const end of [after.release, after.abort]) {
    const sent = page()
    await after.waiting()
    await end()
    await sent
  }
  await after.remove()
  await sandbox.webhooks.create({ inbox: true })
  const webhooks = await sandbox.gates.hold({ webhook: '*' }, { at: 'webhook' })
  for (const end of [() => webhooks.release({ count: 1 }), () => webhooks.abort()]) {
    await sandbox.fetch('/batch-predictions', { json: aBatch() })
    await sandbox.clock.advance('30d')
    await webhooks.waiting()
    await end()
    await sandbox.clock.advance('1h')
  }
  const ends = (await sandbox.webhooks.deliveries()).map(({ status }) => status)
  expect(ends).toEqual(expect.arrayContaining(['delivered', 'dropped']))
  const bundle = await sandbox.record()
  const numbers = bundle.inputs.flatMap((input) => ('request' in input ? [input.request.number] : []))
  expect(numbers).toEqual([3, 2, 1, undefined, undefined, undefined, undefined, undefined])
  const options = { until: bundle.inputs.length, scenarios: temporaryDirectory(), listen: false }
  const { emulator, difference } = await replayBundle(bundle, options)
  await emulator.close()
  expect([difference, bundle.not_reproducible]).toEqual([undefined, []])
})

test('a recording says that a rule was removed while requests waited at its gate', async () => {
  await using own = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  const { defaultSandbox: sandbox } = connect(own.url)
  const gate = await sandbox.gates.hold({ operation: 'pages.create' }, { at: 'before-handler' })
  const page = sandbox.fetch('/pages', { json: aPage() })
  await gate.waiting()
  await gate.remove()
  expect((await page).status).toBe(200)
  const reason = expect.stringMatching(/^A fault rule was removed while requests waited at a gate/)
  expect((await sandbox.record()).not_reproducible).toEqual([reason])
})
