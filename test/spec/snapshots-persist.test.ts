import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CallControl } from '../support/control.ts'
import {
  alive,
  dataFolder,
  filesIn,
  killedData,
  organizations,
  putOrganization,
} from '../support/data-folder.ts'

test('snapshots and acknowledged restores survive a restart and a kill, one file each', async () => {
  const data = dataFolder()
  const first = await alive(data)
  const save = (name: string) => first.control('POST', '/snapshots', { name })
  await putOrganization(first.control, 'one')
  await save('base')
  await putOrganization(first.control, 'two')
  await save('later')
  await first.control('POST', '/snapshots/base/restore')
  await putOrganization(first.control, 'three')
  const shown = async (control: CallControl) => [
    (await control('GET', '/state')).body,
    (await control('GET', '/snapshots')).body,
    (await control('GET', '/snapshots/base')).body,
  ]
  const then = await shown(first.control)
  const killed = killedData(data)
  await first.emulator.close()
  const files = ['base', 'later'].map((name) => `snapshots/default/${name}.json`)
  expect(filesIn(data)).toEqual(['default.json', ...files])
  for (const folder of [killed, data]) {
    const { control, emulator } = await alive(folder)
    expect(await shown(control)).toEqual(then)
    await control('POST', '/snapshots/later/restore')
    expect(await organizations(control)).toEqual(['one', 'two'])
    await emulator.close()
  }
  // Without its state file, the sandbox starts anew and keeps its snapshots.
  rmSync(join(data, 'default.json'))
  const { control } = await alive(data)
  expect(await organizations(control)).toEqual([])
  expect((await control('GET', '/snapshots')).body).toEqual(then[1])
})

test('a snapshot of a sandbox in memory, or of an ephemeral emulator, leaves no file', async () => {
  const [data, ephemeral] = [dataFolder(), dataFolder()]
  const kept = await alive(data)
  const none = await alive(ephemeral, { ephemeral: true })
  for (const control of [kept.in('w1'), none.control])
    expect((await control('POST', '/snapshots', { name: 'base' })).status).toBe(201)
  expect([filesIn(data), filesIn(ephemeral)]).toEqual([['default.json'], []])
})
