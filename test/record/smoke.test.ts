import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { startEmulator } from '../../src/index.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'
import { replayed, session } from './sessions.ts'
void createServer
test('random', async () => {
  await using emulator = await startEmulator({ port: 0, ephemeral: true, fixtures: 'demo', countCoverage: false })
  let n = 0
  const receiver = await webhookReceiver(() => [200, 500, 204, 302][n++ % 4])
  const presets = ((await (await fetch(`${emulator.url}/__emulator/fault-presets`)).json()) as any).data.map((p: any) => p.name)
  const from = Number(process.env.FROM ?? 1)
  const to = Number(process.env.TO ?? 5)
  const bad = []
  for (let seed = from; seed <= to; seed++) {
    const bundles = await session(seed, { emulator, receiver: receiver.url, presets })
    for (const [i, bundle] of bundles.entries()) {
      writeFileSync(`/tmp/rec-${seed}-${i}.json`, JSON.stringify(bundle, null, 1))
      const started = performance.now()
      const difference = await replayed(bundle).catch((e) => ({ error: String(e), stack: e.stack?.slice(0, 600), issues: e.options?.issues }))
      console.log(seed, i, bundle.inputs.length, 'dropped', bundle.dropped, Math.round(performance.now() - started), 'ms', difference ?? 'same')
      if (difference) bad.push([seed, i])
    }
  }
  expect(bad).toEqual([])
}, 600000)
