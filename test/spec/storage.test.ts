import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { alive, dataFolder, organizations, putOrganization } from '../support/data-folder.ts'

async function twoSandboxes(): Promise<string> {
  const data = dataFolder()
  const first = await alive(data)
  await first.control('POST', '/sandboxes', { name: 'kept', persist: true })
  for (const id of ['one', 'two', 'three']) {
    await putOrganization(first.control, id)
    await putOrganization(first.in('kept'), id)
  }
  await first.emulator.close()
  return data
}

test('health lists the records of a state file that were moved aside, with their file, until that is removed', async () => {
  const data = await twoSandboxes()
  const file = join(data, 'default.json')
  rmSync(`${file}.previous`)
  writeFileSync(file, readFileSync(file, 'utf8').replace('"name": "two"', '"name": 2'))
  const { control, in: inSandbox, said } = await alive(data)
  expect(await organizations(control)).toEqual(['one', 'three'])
  expect(await organizations(inSandbox('kept'))).toEqual(['one', 'two', 'three'])
  expect((await control('GET', '/health')).body).toMatchObject({
    status: 'ok',
    storage: [
      {
        sandbox: 'default',
        set_aside: [
          { pointer: '/collections/organizations/1', reason: expect.stringContaining('/name: must be') },
        ],
        kept_in: 'default.json.invalid-1',
        recovered_from: null,
      },
    ],
  })
  expect(said).toEqual([expect.stringMatching(/default\.json:\d+: \/collections\/organizations\/1: \/name/)])
  rmSync(`${file}.invalid-1`)
  expect((await control('GET', '/health')).body.storage).toEqual([])
})

test('health reports a truncated state file, and the previous file that its state comes from', async () => {
  const data = await twoSandboxes()
  const file = join(data, 'sandboxes/kept.json')
  writeFileSync(file, readFileSync(file).subarray(0, 200))
  const { control, in: inSandbox } = await alive(data)
  expect(await organizations(inSandbox('kept'))).toEqual(['one', 'two', 'three'])
  expect((await control('GET', '/health')).body.storage).toEqual([
    {
      sandbox: 'kept',
      problem: null,
      set_aside: [],
      kept_in: 'kept.json.corrupt-1',
      recovered_from: 'kept.json.previous',
    },
  ])
})

test('the control interface accepts a state document of format 1, and refuses one of a newer format', async () => {
  const { control } = await alive(dataFolder())
  await putOrganization(control, 'one')
  const { body } = await control('GET', '/state')
  expect(body.format).toBe(2)
  await control('DELETE', '/state/organizations/one')
  expect((await control('PUT', '/state', { ...body, format: 1 })).status).toBe(200)
  expect(await organizations(control)).toEqual(['one'])
  expect((await control('PUT', '/snapshots/old', { ...body, format: 1 })).status).toBeLessThan(300)
  expect((await control('PUT', '/state', { ...body, format: 3 })).status).toBe(400)
})
