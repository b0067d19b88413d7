import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody } from '../support/sample-calls.ts'

test('an operation has its own success status, and the others keep that of their setting', {
  tags: ['R222'],
}, async () => {
  const settings = { 'success.create': 201, 'success.overrides': { 'batch-predictions.create': 202 } }
  const emulator = await testEmulator({ settings })
  const page = await emulator.post('/pages', { name: 'One' })
  const batch = await emulator.post('/batch-predictions', batchBody())
  expect([page.status, batch.status]).toEqual([201, 202])
  const { paths } = (await emulator.control('GET', '/openapi.json?api=workspace')).body
  expect(Object.keys(paths['/batch-predictions'].post.responses)[0]).toBe('202')
  for (const { assumed } of emulator.sandbox.log.entries()) expect(assumed).not.toContain('U026')
})

test.each([
  ['pages.cretae', 202, 'Did you mean "pages.create"?'],
  ['pages.create', 199, 'an integer from 200 to 299'],
  ['pages.create', 204, 'a status whose response has a body'],
  ['pages.create', 205, 'a status whose response has a body'],
  ['pages.create', 300, 'an integer from 200 to 299'],
  ['messages.feedback', 200, 'declared with the operation'],
])('the success status of %s cannot be %s', async (name, status, reason) => {
  const { control } = await testEmulator()
  const refused = await control('PATCH', '/settings', { 'success.overrides': { [name]: status } })
  expect(refused.status).toBe(400)
  const issue = { pointer: `/success.overrides/${name}`, detail: expect.stringContaining(reason) }
  expect(refused.body.details.errors).toMatchObject([issue])
})

test.each([200, 203, 206, 299])('the success status of an operation can be %i', async (status) => {
  const emulator = await testEmulator({ settings: { 'success.overrides': { 'pages.create': status } } })
  expect((await emulator.post('/pages', { name: 'One' })).status).toBe(status)
})
