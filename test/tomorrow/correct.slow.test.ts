import { startEmulator } from 'agent-workspace-emulator'
import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { faultsIn } from '../gallery/conduct.ts'
import { plannedRuns, runCorrectly, WebhookReceiver } from '../gallery/correct-run.ts'
import { START } from '../gallery/situation.ts'

// Some runs have time-outs in real time.
test('the correct client has no finding with the service of tomorrow, under no fault and under each preset', {
  timeout: 300_000,
}, async () => {
  const options = { port: 0, ephemeral: true, rate: 0, clock: START, tomorrow: true }
  await using emulator = await startEmulator(options)
  await using receiver = await WebhookReceiver.open()
  const runs = plannedRuns([...workspaceService.presets.keys()], workspaceService.presets.size)
  const found: string[] = []
  const next = async () => {
    for (let run = runs.pop(); run !== undefined; run = runs.pop()) {
      const faults = faultsIn(await runCorrectly(emulator, receiver, run))
      found.push(...faults.map((text) => `${run?.preset ?? 'no fault'}: ${text}`))
    }
  }
  await Promise.all(Array.from({ length: 4 }, next))
  expect(found).toEqual([])
  // Each batch has a webhook of a type that nobody knows, beside the known one.
  expect(receiver.handled).toBeGreaterThan(runs.length + 20)
})
