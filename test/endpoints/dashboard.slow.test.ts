import { expect, onTestFinished, test } from 'vitest'
import { openDashboard, violations } from '../dashboard/browser.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

const NOTES = `import { defineEndpoint } from 'agent-workspace-emulator'
export default [
  defineEndpoint({ method: 'POST', path: '/notes', summary: 'Write a note', handle: ({ body, records }) => ({ body: records('notes').insert(body) }) }),
  defineEndpoint({ method: 'GET', path: '/search', response: { body: { object: 'list', data: [] } } }),
]
`

test('the dashboard has the endpoints of the user, their records, requests, limits and the errors of their files', async () => {
  const endpoints = folderWith({ 'notes.js': NOTES })
  const { page, goTo, client, problems, close } = await openDashboard({ endpoints, followEndpoints: true })
  onTestFinished(close)
  const sandbox = await client.sandbox()
  await sandbox.fetch('/notes', { json: { text: 'Buy lead flashing' } })
  await sandbox.fetch('/search')

  await goTo('requests?filter=operation:notes.create', sandbox.name)
  await page.getByRole('row', { name: /POST \/notes 200/ }).click()
  expect(await page.getByRole('row', { name: /search/ }).count()).toBe(0)
  await page
    .getByText(/The endpoint at \S*notes\.js:3 responded with 200/)
    .first()
    .waitFor()
  await page.getByRole('tab', { name: 'Request' }).click()
  await page.getByText('notes.create', { exact: true }).waitFor()
  await page.getByText(/notes\.js:3$/).waitFor()

  await goTo('data/notes', sandbox.name)
  await page.getByRole('row', { name: /Buy lead flashing/ }).waitFor()
  await page
    .getByRole('navigation', { name: 'Collections' })
    .getByRole('link', { name: /^notes ?1$/ })
    .waitFor()

  await goTo('limits', sandbox.name)
  await page.getByRole('link', { name: 'notes.create' }).waitFor()

  await goTo('scenarios', sandbox.name)
  const card = page.getByRole('region', { name: 'Endpoints of your own' })
  await card.getByText('Write a note').waitFor()
  await card.getByRole('link', { name: /^search\./ }).waitFor()
  expect(await violations(page)).toEqual([])
  put(endpoints, { 'notes.js': NOTES.replace("'GET'", "'GOT'") })
  await client.defaultSandbox.endpoints.problems()
  await sandbox.fetch('/search')
  await card.getByText(/notes\.js:4.*\/method/).waitFor()
  await card.getByText('the last valid files are used').waitFor()
  expect(await violations(page)).toEqual([])
  expect(problems).toEqual([])
})
