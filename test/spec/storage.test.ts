import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { command } from '../cli/in-process.ts'
import { alive, dataFolder, organizations, putOrganization } from '../support/data-folder.ts'

test('a refused edit can be applied with the command in its message', async () => {
  const data = dataFolder()
  const { control, emulator, said } = await alive(data)
  await putOrganization(control, 'one')
  const file = join(data, 'default.json')
  const edited = JSON.stringify({ ...(await control('GET', '/state')).body, seed: 77 })
  await putOrganization(control, 'two')
  writeFileSync(file, edited)
  await vi.waitFor(() => expect(said).toHaveLength(1), 10_000)
  const [, argv = ''] = /: workspace-emulator (state import .*)$/.exec(said[0] ?? '') ?? []
  expect(argv).toBe(`state import "${file}.refused.json" --url ${emulator.url}`)
  expect((await command(argv.replaceAll('"', '').split(' '))).code).toBe(0)
  expect(await organizations(control)).toEqual(['one'])
  expect((await control('GET', '/state')).body.seed).toBe(77)
})

test('PUT /state?if_revision= is refused with 412 when records have changed since, and not by the clock', async () => {
  const { control } = await alive(dataFolder())
  await putOrganization(control, 'one')
  const { body: document } = await control('GET', '/state')
  const path = `/state?if_revision=${document.revision}`
  await control('POST', '/clock/advance', { by: '1h' })
  const { now } = (await control('GET', '/clock')).body
  expect((await control('PUT', path, { ...document, seed: 5 })).body).toMatchObject({ seed: 5, now })
  const refused = await control('PUT', path, document)
  expect([refused.status, refused.body.error]).toEqual([412, 'precondition_failed'])
  expect((await control('PUT', '/state', document)).body).toMatchObject({ seed: document.seed })
  expect((await control('PUT', '/state?if_revision=last', document)).status).toBe(400)
})
