import { connect } from 'agent-workspace-emulator'
import { createBatch, violations } from './browser.ts'
import { testsOfViews } from './views.ts'

const test = testsOfViews()

test('a new user opens the address of the emulator and sees how to connect, and then that it worked', async (view) => {
  const { expect, page, emulator } = view
  const { defaultSandbox } = connect(emulator.url)
  await page.goto(emulator.url)
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  expect(page.url()).toBe(`${emulator.url}/__emulator/ui/#/default/connect`)
  await page.getByText('Waiting for your first request').waitFor()
  expect(await page.getByLabel('Base URL').inputValue()).toBe(emulator.baseUrl)
  await defaultSandbox.fetch('/data-views')
  await page.getByText('Connected: GET /v1/data-views').waitFor()
  expect(await violations(page)).toEqual([])
})

test('a request appears in the table, can be explained, and can be sent again', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.fetch('/data-views')
  await goTo('requests')
  await createBatch(sandbox, 24)
  await sandbox.fetch('/pages', { json: { title: '<img src=x onerror=alert(1)>' } })
  await page.getByRole('row', { name: /POST \/pages 400/ }).click()
  await page.getByText('One field is not valid: /name: is required').first().waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('tab', { name: 'Request' }).click()
  await page.getByText('<img src=x onerror=alert(1)>').waitFor()
  await page.getByText(/^c\d+, request \d+.*, response sent whole$/).waitFor()
  await page.getByRole('tab', { name: 'Response' }).click()
  await page.getByText('"error": "validation_failed"').waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Sent again: status 400.').waitFor()
  await page.getByRole('button', { name: 'More about this request' }).click()
  await page.getByRole('button', { name: 'Copy as Python' }).click()
  await page.getByText(/^Copied as Python|did not allow copying/).waitFor()
  await page.getByLabel('Filter requests').fill('status:400 path:pages')
  await page.getByRole('row', { name: /data-views/ }).waitFor({ state: 'detached' })
  expect(await page.getByRole('row', { name: /pages/ }).count()).toBe(2)
})

test('a batch is on the timeline, its bar opens it, and clicks advance the clock until it is done', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await createBatch(sandbox, 24)
  await goTo('timeline')
  const bar = (about: RegExp) => page.getByRole('link', { name: about })
  await bar(/^invoices, validating, 0 of 24 items/).waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Step' }).click()
  await bar(/^invoices, in_progress/).click()
  await page.getByRole('button', { name: 'Advance to done' }).click()
  await goTo('timeline')
  await bar(/^invoices, completed, 24 of 24/).waitFor()
  const before = Date.parse((await sandbox.clock.show()).now)
  await page.getByRole('button', { name: '+1 h' }).click()
  await page.getByText('Last advance').waitFor()
  await expect.poll(async () => Date.parse((await sandbox.clock.show()).now)).toBe(before + 3_600_000)
})

test('the overview answers at a glance, and each of its parts opens its view with the filter', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.faults.preset('server-error', { when: { nth: 50 } })
  await sandbox.fetch('/data-views')
  const headers = { 'Idempotency-Key': 'overview', 'X-Emulator-Fault': 'retry-after-http-date' }
  for (let n = 0; n < 2; n++) await sandbox.fetch('/pages', { json: { name: 'Roof plan' }, headers })
  await goTo('overview')
  const card = (name: string) => page.getByRole('region', { name, exact: true })
  await card('Requests per minute')
    .getByRole('link', { name: /^3 requests at 09:00:00/ })
    .waitFor()
  await card('Operations that fail').getByText('1 × 429').waitFor()
  await card('Conduct').getByText('wait.date-ignored').waitFor()
  await card('What happens next').getByText('The automation fires').first().waitFor()
  await card('Armed faults that never fired')
    .getByText(/^0 of \d requests?$/)
    .waitFor()
  await card('Coverage')
    .getByText(/^\d+ of \d+ points, /)
    .waitFor()
  expect(await violations(page)).toEqual([])
  const parts = [
    ['Requests per minute', '1 × 429', /requests\?filter=status%3A429$/],
    ['Requests per minute', /requests at 09:00:00/, /requests\?filter=at%3A2026-11-23T09%3A00$/],
    ['Operations that fail', 'pages.create', /requests\?filter=operation%3Apages.create&show=errors$/],
    ['Conduct', 'wait.date-ignored', /conduct\?filter=warning\+wait.date-ignored\+pages.create$/],
    ['Armed faults that never fired', 'server-error', /faults\/server-error/],
    ['Coverage', 'error', /coverage\?filter=error\+$/],
  ] as const
  for (const [part, name, address] of parts) {
    await goTo('overview')
    await card(part).getByRole('link', { name }).first().click()
    await page.waitForURL(address)
  }
})

test('a preset can be armed with a click and fails the next request; a custom rule is checked while it is typed', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.fetch('/data-views')
  await goTo('requests')
  await page.getByRole('row', { name: /data-views/ }).click()
  await page.getByRole('button', { name: 'Make this fail' }).click()
  const editor = page.getByLabel('Rule as JSON')
  await editor.fill('{"preset": "server-eror"}')
  await page.getByRole('alert').getByText('Did you mean "server-error"?').waitFor()
  await editor.fill('{"match": {"operation": "data-views.list"}, "times": 3, "preset": "server-error"}')
  await page.getByLabel('Template').selectOption('cut')
  expect(JSON.parse(await editor.inputValue())).toEqual({
    match: { operation: 'data-views.list' },
    when: { every: 1 },
    times: 3,
    do: [{ cut: { at: 'before-head', how: 'rst' } }],
  })
  await page.getByLabel('Template').selectOption('preset server-error')
  await page.getByRole('button', { name: 'Arm rule' }).click()
  await page.getByText('The rule is armed.').waitFor()
  expect((await sandbox.fetch('/data-views')).status).toBe(500)
  await page.getByRole('switch', { name: 'rate-limited' }).click()
  await page.getByRole('listitem').filter({ hasText: 'rate-limited' }).getByText('armed').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear all' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Clear all' }).click()
  await page.getByText('All rules are removed.').waitFor()
  expect((await sandbox.fetch('/data-views')).status).toBe(200)
})

test('a record can be edited: an invalid field is reported and nothing is saved, a valid one is saved', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('data/pages')
  // Each test that saves a record saves another one, since its message stays visible for some seconds.
  await page.getByRole('row', { name: /page-cranes/ }).click()
  await page.getByRole('tab', { name: 'JSON' }).click()
  const editor = page.getByLabel('Record as JSON')
  const record = JSON.parse(await editor.inputValue())
  const stored = () => sandbox.state.get<{ name: string }>('pages', record.id)
  await editor.fill(JSON.stringify({ ...record, name: 'Tides', scope: 'company' }, null, 2))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('/scope').waitFor()
  expect(await violations(page)).toEqual([])
  expect((await stored()).name).toBe(record.name)
  await editor.fill(JSON.stringify({ ...record, name: 'Tides' }, null, 2))
  await page.keyboard.press('Control+s')
  await page.getByText(`${record.id} is saved.`).waitFor()
  expect((await stored()).name).toBe('Tides')
  await page.getByRole('button', { name: 'Snapshots' }).click()
  await page.getByLabel('Save as').fill('edited')
  await page.keyboard.press('Enter')
  await page.getByText('edited is saved.').waitFor()
  await page.getByRole('tab', { name: 'Form' }).click()
  await page.getByLabel('scope').selectOption('organization')
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await stored()) as object).toMatchObject({ scope: 'organization' })
  await page.getByRole('button', { name: 'Snapshots' }).click()
  await page.getByRole('button', { name: 'Compare' }).click()
  const dialog = page.getByRole('dialog', { name: 'Compare snapshots' })
  await dialog.getByText('scope: "organization"').waitFor()
  expect(await violations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Close' }).click()
})

test('a scenario can be started and stopped, and a setting changed and restored', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('scenarios')
  const row = page.getByRole('listitem').filter({ hasText: 'happy-path' })
  await row.getByRole('button', { name: 'Start', exact: true }).click()
  await row.getByText('active since').waitFor()
  expect(await violations(page)).toEqual([])
  await row.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('happy-path is stopped.').waitFor()
  await goTo('settings?filter=success.delete')
  await page.getByLabel('success.delete').fill('200')
  await page.keyboard.press('Enter')
  await page.getByText('success.delete is changed.').waitFor()
  expect(await violations(page)).toEqual([])
  expect((await sandbox.settings.show()).values['success.delete']).toBe(200)
  await page.getByRole('button', { name: 'Restore default' }).click()
  await page.getByText('changed', { exact: true }).waitFor({ state: 'detached' })
})

test('a missing sandbox is reported, and can be created with a click', async (view) => {
  const { expect, page, emulator } = view
  await page.goto(`${emulator.url}/__emulator/ui/#/new-one/requests`)
  await page.getByText('There is no sandbox new-one yet.').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Create it now' }).click()
  await page.getByText('There is no sandbox new-one yet.').waitFor({ state: 'detached' })
  const sandboxes = await connect(emulator.url).sandboxes.list()
  expect(sandboxes.map(({ name }) => name)).toContain('new-one')
})
