import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEmulator } from '../../src/emulator.ts'
import { type Dashboard, openDashboard, violations } from './browser.ts'

// One browser and one emulator for all tests of this file: each test continues where the previous one has ended.
let dashboard: Dashboard
const api = (path: string, init: RequestInit = {}) =>
  fetch(`${dashboard.emulator.baseUrl}${path}`, {
    ...init,
    headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json', ...init.headers },
  })

beforeAll(async () => {
  dashboard = await openDashboard()
})

afterAll(() => dashboard?.close())

test('a new user opens the address of the emulator and sees how to connect, and then that it worked', async () => {
  const { page, emulator } = dashboard
  await page.goto(emulator.url)
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  expect(page.url()).toBe(`${emulator.url}/__emulator/ui/#/default/connect`)
  await page.getByText('Waiting for your first request').waitFor()
  expect(await page.getByLabel('Base URL').inputValue()).toBe(emulator.baseUrl)
  await api('/data-views')
  await page.getByText('Connected: GET /v1/data-views').waitFor()
  expect(await violations(page)).toEqual([])
})

const batchBody = (count: number) =>
  JSON.stringify({
    prompt: 'Read the total.',
    output_schema: { type: 'object', properties: { total: { type: 'number' } } },
    model: 'any-model',
    metadata: { label: 'invoices' },
    items: Array.from({ length: count }, (_, n) => ({ file_id: 'file-invoice-1', custom_id: `report-${n}` })),
  })

test('a request appears in the table, can be explained, and can be sent again', async () => {
  const { page, goTo } = dashboard
  await goTo('requests')
  await api('/batch-predictions', { method: 'POST', body: batchBody(24) })
  await api('/pages', { method: 'POST', body: '{"title": "<img src=x onerror=alert(1)>"}' })
  await page.getByRole('row', { name: /POST \/pages 400/ }).click()
  await page.getByText('One field is not valid: /name: is required').first().waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('tab', { name: 'Request' }).click()
  await page.getByText('<img src=x onerror=alert(1)>').waitFor()
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

test('a batch is on the timeline, and clicks advance the clock until it is done', async () => {
  const { page, client, goTo } = dashboard
  await goTo('timeline')
  await page.getByRole('button', { name: /^invoices, validating/ }).click()
  await page.getByText('0 of 24').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Step' }).click()
  await page.getByRole('button', { name: /^invoices, in_progress/ }).click()
  await page.getByRole('button', { name: 'Advance to done' }).click()
  await page.getByRole('button', { name: /^invoices, completed, 24 of 24/ }).waitFor()
  const before = Date.parse((await client.defaultSandbox.clock.show()).now)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: '+1 h' }).click()
  await page.getByText('Last advance').waitFor()
  await expect
    .poll(async () => Date.parse((await client.defaultSandbox.clock.show()).now))
    .toBe(before + 3_600_000)
})

test('a preset can be armed with a click and fails the next request; a custom rule is checked while it is typed', async () => {
  const { page, goTo } = dashboard
  await goTo('requests')
  await page
    .getByRole('row', { name: /data-views/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Make this fail' }).click()
  const editor = page.getByLabel('Rule as JSON')
  await page.getByText('Ctrl Space suggests').waitFor()
  await editor.fill('{}')
  await editor.press('ArrowLeft')
  await page.keyboard.type('pre')
  await page.getByRole('option', { name: 'preset choice' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('server-e')
  await page.getByRole('option', { name: '"server-error"' }).waitFor()
  await page.keyboard.press('Enter')
  expect(await editor.inputValue()).toBe('{"preset": "server-error"}')
  await editor.fill('{"preset": "server-eror"}')
  await page.getByRole('button', { name: 'server-error', exact: true }).click()
  await page.getByRole('button', { name: 'Arm rule' }).click()
  await page.getByText('The rule is armed.').waitFor()
  expect((await api('/data-views')).status).toBe(500)
  await page.getByRole('switch', { name: 'rate-limited' }).click()
  await page.getByText('1 never fired').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear all' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Clear all' }).click()
  await page.getByText('All rules are removed.').waitFor()
  expect((await api('/data-views')).status).toBe(200)
})

test('a batch can be held, given other outcomes, and completed', async () => {
  const { page, goTo } = dashboard
  await goTo('batches')
  await api('/batch-predictions', { method: 'POST', body: batchBody(3) })
  await page.getByRole('row', { name: /validating/ }).click()
  await page.getByRole('button', { name: 'Hold' }).click()
  await page.getByRole('button', { name: 'Release' }).click()
  await page.getByText('planned succeeded').first().waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Edit' }).click()
  const every = { match: { custom_id: 'none-*' }, every: 40, probability: 0.5 }
  const rules = [every, { status: 'errored', detail: 'unreadable scan' }]
  await page.getByLabel('Outcome rules as JSON').fill(JSON.stringify(rules))
  await page.getByRole('button', { name: 'Save rules' }).click()
  await page.getByText('1 in 40 of about 50 % of items whose custom_id is none-*').waitFor()
  await page.getByText('all items', { exact: true }).waitFor()
  await page.getByText('planned errored').first().waitFor()
  await page.getByRole('button', { name: 'Complete', exact: true }).click()
  await page.getByText('Prediction Failed: unreadable scan').first().waitFor()
  await page.getByText('3 errored').waitFor()
})

test('a record can be edited: an invalid field is reported and nothing is saved, a valid one is saved', async () => {
  const { page, client, goTo } = dashboard
  await goTo('data/pages')
  await page.getByRole('row').nth(1).click()
  const editor = page.getByLabel('Record as JSON')
  const record = JSON.parse(await editor.inputValue())
  const stored = () => client.defaultSandbox.state.get<{ name: string }>('pages', record.id)
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

test('the editor of a record suggests fields and values from its schema, by keyboard', async () => {
  const { page, client, goTo } = dashboard
  const { state } = client.defaultSandbox
  const [record] = await state.list<{ id: string; name: string; scope: string }>('pages')
  await goTo(`data/pages/${record?.id}`)
  await page.getByRole('tab', { name: 'JSON' }).click()
  const editor = page.getByLabel('Record as JSON')
  const { scope: _, ...rest } = record as { id: string; name: string; scope: string }
  const text = JSON.stringify(rest)
  await editor.fill(text)
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  for (const key of [',', ' ', 's', 'c']) await page.keyboard.press(key)
  const list = page.getByRole('listbox', { name: 'Suggestions' })
  await list.getByRole('option', { name: 'scope', selected: true }).waitFor()
  expect(await violations(page)).toEqual([])
  // Escape closes only the list, not the record.
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+Space')
  await page.keyboard.press('Enter')
  await list.getByRole('option', { name: '"teamspace"', selected: true }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Tab')
  expect(JSON.parse(await editor.inputValue())).toEqual({ ...rest, scope: 'organization' })
  expect(await page.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe('Record as JSON')
  // A suggestion can be undone like typed text.
  await page.keyboard.press('Control+z')
  expect(await editor.inputValue()).not.toContain('organization')
  await page.keyboard.press('Control+Shift+z')
  expect(await editor.inputValue()).toContain('organization')
  await page.keyboard.press('Control+s')
  await expect
    .poll(async () => (await state.get<{ scope: string }>('pages', rest.id)).scope)
    .toBe('organization')
})

test('two editors do not overwrite each other: the later one has to choose which version to keep', async () => {
  const { page, client, goTo } = dashboard
  const { state } = client.defaultSandbox
  const data = await state.list<{ id: string; name: string }>('pages')
  const record = data[1] as { id: string; name: string }
  await goTo(`data/pages/${record.id}`)
  const editor = page.getByLabel('Record as JSON')
  await editor.fill(JSON.stringify({ ...record, name: 'mine' }))
  // The record changes at the last moment, after the page has sent its own change.
  await page.route('**/state/pages/*', async (route) => {
    if (route.request().method() === 'PUT') await state.put('pages', { ...record, name: 'theirs' })
    await route.continue()
  })
  await page.getByRole('button', { name: 'Save' }).click()
  const conflict = page.getByRole('alert').filter({ hasText: 'The record was changed while you edited it.' })
  await conflict.getByText('name: "theirs"').waitFor()
  await conflict.getByText('name: "mine"').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  expect(await violations(page)).toEqual([])
  const stored = async () => (await state.get<{ name: string }>('pages', record.id)).name
  expect(await stored()).toBe('theirs')
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await conflict.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(stored).toBe('mine')
  await page.getByText('unsaved').waitFor({ state: 'detached' })
  await editor.fill(JSON.stringify({ ...record, name: 'mine again' }))
  await state.patch('pages', record.id, { name: 'theirs again' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Take theirs' }).click()
  await expect.poll(async () => JSON.parse(await editor.inputValue()).name).toBe('theirs again')
  expect(await stored()).toBe('theirs again')
})

test('a slow save does not navigate away from a view that was opened during it', async () => {
  const { page, client, goTo } = dashboard
  const { state } = client.defaultSandbox
  // Another record than in earlier tests, whose message may still be visible.
  const record = (await state.list<{ id: string; name: string }>('pages')).at(-1)
  await goTo(`data/pages/${record?.id}`)
  await page.getByLabel('Record as JSON').fill(JSON.stringify({ ...record, name: 'slow' }))
  let respond = (): void => {}
  const isLeft = new Promise<void>((resolve) => {
    respond = resolve
  })
  await page.route('**/state/pages/*', async (route) => {
    if (route.request().method() === 'PUT') await isLeft
    await route.continue()
  })
  const put = page.waitForRequest((request) => request.method() === 'PUT')
  await page.getByRole('button', { name: 'Save' }).click()
  await put
  await goTo('limits')
  respond()
  await page.getByText(`${record?.id} is saved.`).waitFor()
  expect(page.url()).toMatch(/\/limits$/)
  await page.unrouteAll({ behavior: 'wait' })
})

test('a rate window can be filled with a click, so that the next request gets 429, and cleared again', async () => {
  const { page, goTo } = dashboard
  await goTo('limits')
  await api('/data-views')
  const row = page.getByRole('listitem').filter({ hasText: 'data-views.list' })
  await row.getByRole('button', { name: 'Fill' }).click()
  await page.getByText('data-views.list is full. Next request: 429.').waitFor()
  expect((await api('/data-views')).status).toBe(429)
  expect(await violations(page)).toEqual([])
  await row.getByRole('button', { name: 'Clear' }).click()
  await page.getByText('data-views.list is empty.').waitFor()
  expect((await api('/data-views')).status).toBe(200)
  const enforce = page.getByRole('switch', { name: 'Enforce limits' })
  await enforce.click()
  await page.getByText('Full windows do not refuse requests. Headers').waitFor()
  await row.getByRole('button', { name: 'Fill' }).click()
  expect((await api('/data-views')).status).toBe(200)
  await enforce.click()
  await page.getByText('Full windows refuse requests.').waitFor()
  await row.getByRole('button', { name: 'Clear' }).click()
})

test('an endpoint can be subscribed, and a failed delivery is shown and can be sent again', async () => {
  const { page, client, goTo } = dashboard
  await goTo('webhooks')
  await page.getByRole('button', { name: 'Add endpoint' }).first().click()
  // No server listens on the discard port.
  await page.getByLabel('URL').fill('http://127.0.0.1:9/hook')
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await page.getByText('The endpoint is subscribed.').waitFor()
  const created = await api('/batch-predictions', { method: 'POST', body: batchBody(1) })
  const { id } = (await created.json()) as { id: string }
  await client.defaultSandbox.clock.advance({ until: { batch: id } })
  await page.getByRole('button', { name: 'Deliveries', exact: true }).click()
  await page.getByRole('button', { name: /batch_prediction.completed/ }).click()
  await page.getByText('1 attempt to http://127.0.0.1:9/hook.').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Redeliver now' }).click()
  await page.getByText('2 attempts to').waitFor()
})

test('the inbox receives webhooks without a server, and marks them as unread until they are opened', async () => {
  const { page, client, goTo } = dashboard
  await goTo('webhooks?tab=inbox')
  await page.getByRole('button', { name: 'Use the inbox' }).click()
  await page.getByText('Nothing has arrived yet').waitFor()
  const created = await api('/batch-predictions', { method: 'POST', body: batchBody(1) })
  const { id } = (await created.json()) as { id: string }
  await client.defaultSandbox.clock.advance({ until: { batch: id } })
  await page.getByRole('button', { name: /batch_prediction.completed/ }).click()
  await page.getByText('with attempt 1. Responded 200.').waitFor()
  await page.getByText('not signed').waitFor()
  expect(await page.getByRole('group', { name: 'Body' }).textContent()).toContain(id)
  expect(await violations(page)).toEqual([])
  await page.getByRole('tab', { name: 'Raw' }).click()
  await page.getByText('X-Emulator-Event: batch_prediction.completed').waitFor()
  expect(await violations(page)).toEqual([])
  await client.defaultSandbox.settings.change({
    'webhooks.signature': { header: 'X-Sign', secret: 'shared', timestamp_header: 'X-Time' },
  })
  await client.defaultSandbox.faults.arm({
    match: { webhook: '*' },
    do: [{ deliver: { sign: 'old' } }],
  })
  const again = await api('/batch-predictions', { method: 'POST', body: batchBody(1) })
  await client.defaultSandbox.clock.advance({ until: { batch: ((await again.json()) as { id: string }).id } })
  await page.getByRole('button', { name: 'Inbox 2' }).waitFor()
  await page
    .getByRole('button', { name: /batch_prediction.completed/ })
    .first()
    .click()
  await page.getByText('signature too old').waitFor()
  await page.getByText('The timestamp in X-Time is 301s old, and at most 5m is allowed.').waitFor()
  await client.defaultSandbox.faults.clear()
  await client.defaultSandbox.settings.change({ 'webhooks.signature': null })
  await page.getByRole('button', { name: 'Responds 200' }).click()
  await page.getByRole('button', { name: 'Respond with 503' }).click()
  await page.getByRole('button', { name: 'Responds 503' }).waitFor()
  await goTo('webhooks?tab=deliveries')
  await page
    .getByRole('button', { name: /127.0.0.1:9/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Send to inbox' }).click()
  await page.getByText('The inbox has received it.').waitFor()
})

test('a scenario can be started and stopped, and a setting changed and restored', async () => {
  const { page, client, goTo } = dashboard
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
  expect((await client.defaultSandbox.settings.show()).values['success.delete']).toBe(200)
  await page.getByRole('button', { name: 'Restore default' }).click()
  await page.getByText('changed', { exact: true }).waitFor({ state: 'detached' })
})

test('settings and fixtures are edited as JSON: an error is shown at its line and changes nothing', async () => {
  const { page, client, goTo } = dashboard
  const { state, settings } = client.defaultSandbox
  await goTo('settings')
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  const dialog = page.getByRole('dialog', { name: 'Changed settings' })
  const editor = dialog.getByLabel('Changed settings, as JSON')
  await dialog.getByText('Ctrl Space suggests').waitFor()
  await editor.fill('{}')
  await editor.press('ArrowLeft')
  await page.keyboard.type('limits.pa')
  await dialog.getByRole('option', { name: 'limits.path_key' }).waitFor()
  await page.keyboard.press('Enter')
  await dialog.getByRole('option', { name: '"concrete"' }).click()
  expect(await violations(page)).toEqual([])
  const written = JSON.parse(await editor.inputValue())
  await editor.fill(JSON.stringify({ ...written, 'limits.path_kye': 1 }, null, 2))
  await dialog.getByRole('button', { name: 'Save settings' }).click()
  await dialog.getByRole('alert').getByText('There is no setting "limits.path_kye".').waitFor()
  await editor.fill(JSON.stringify(written))
  await dialog.getByRole('button', { name: 'Save settings' }).click()
  await page.getByText('The settings are saved.').waitFor()
  expect((await settings.show()).overrides).toEqual({ 'limits.path_key': 'concrete' })
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  await editor.fill('{}')
  await dialog.getByRole('button', { name: 'Save settings' }).click()
  await expect.poll(async () => (await settings.show()).overrides).toEqual({})
  await goTo('data/pages')
  await page.getByRole('button', { name: 'Import or export' }).click()
  await page.getByRole('button', { name: 'Write fixtures' }).click()
  const fixtures = page.getByLabel('Import fixtures, as JSON')
  const before = (await state.list('pages')).length
  const [first] = await state.list<{ id: string }>('pages')
  const documentWith = (name: unknown) =>
    JSON.stringify({ collections: { pages: [{ ...first, id: 'imported', name }] } })
  await fixtures.fill(documentWith(7))
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('alert').getByText('/collections/pages/0/name').waitFor()
  await fixtures.fill(documentWith('Imported'))
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('The fixtures are imported.').waitFor()
  expect(await state.list('pages')).toHaveLength(before + 1)
})

test('all of these can be used by keyboard: views, search and run, the clock, and the table of shortcuts', async () => {
  const { page, client, goTo } = dashboard
  await goTo('timeline')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page
    .getByRole('row', { name: /data-views/ })
    .first()
    .waitFor()
  await page.keyboard.press('j')
  await page.getByText('Copy as curl').waitFor()
  await page.keyboard.press('j')
  await page.getByText('Copy as curl').waitFor()
  await page.keyboard.press('Escape')
  const before = Date.parse((await client.defaultSandbox.clock.show()).now)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search and run' }).fill('advance +24')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect
    .poll(async () => Date.parse((await client.defaultSandbox.clock.show()).now))
    .toBe(before + 86_400_000)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await page.keyboard.press('Escape')
})

/** Presses Tab until the element with this name has the focus. */
async function tabTo(name: RegExp): Promise<void> {
  const { page } = dashboard
  for (let n = 0; n < 120; n++) {
    await page.keyboard.press('Tab')
    const words = await page.evaluate(
      `(document.activeElement.getAttribute('aria-label') ?? '') + ' ' + (document.activeElement.textContent ?? '')`,
    )
    if (name.test(String(words).trim())) return
  }
  throw new Error(`Tab does not lead to ${name}`)
}

test('the main tasks can be done by keyboard: read a request, make it fail, advance the clock, edit a record', async () => {
  const { page, client, goTo } = dashboard
  await goTo('requests')
  await api('/data-views')
  await page.locator('tr[data-id]').first().waitFor()
  await page.keyboard.press('j')
  await page.getByText('Copy as curl').waitFor()
  await page.keyboard.press('f')
  await page.getByRole('button', { name: 'Arm rule' }).waitFor()
  await tabTo(/^Rule as JSON/)
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"preset": "server-error", "times": 1}')
  await tabTo(/Arm rule/)
  await page.keyboard.press('Enter')
  await page.getByText('The rule is armed.').waitFor()
  expect((await api('/data-views')).status).toBe(500)
  const before = Date.parse((await client.defaultSandbox.clock.show()).now)
  await page.keyboard.press('Escape')
  await page.keyboard.press('+')
  await page.keyboard.press('h')
  await expect
    .poll(async () => Date.parse((await client.defaultSandbox.clock.show()).now))
    .toBe(before + 3_600_000)
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await page.getByRole('heading', { name: 'Data' }).waitFor()
  await tabTo(/^pages/)
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /page-cranes/ }).waitFor()
  await tabTo(/^page-handbook/)
  await page.keyboard.press('Enter')
  await page.getByLabel('Record as JSON').waitFor()
  await tabTo(/^Record as JSON/)
  const text = await page.getByLabel('Record as JSON').inputValue()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(JSON.stringify({ ...JSON.parse(text), name: 'By keyboard' }))
  await page.keyboard.press('Control+s')
  await page.getByText('page-handbook is saved.').waitFor()
})

test('a missing sandbox is reported, and can be created with a click', async () => {
  const { page, client, emulator, problems } = dashboard
  await page.goto(`${emulator.url}/__emulator/ui/#/new-one/requests`)
  await page.getByText('There is no sandbox new-one yet.').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Create it now' }).click()
  await page.getByText('There is no sandbox new-one yet.').waitFor({ state: 'detached' })
  expect((await client.sandboxes.list()).map(({ name }) => name)).toContain('new-one')
  expect(problems).toEqual([])
})

const PHONE_VIEWS = [
  ...['timeline', 'requests', 'requests/default-000001', 'faults', 'batches', 'data', 'settings'],
  ...['webhooks', 'webhooks?tab=inbox', 'limits', 'scenarios', 'connect'],
]

test('missing data is reported in a panel that can be closed, and a syntax error is explained', async () => {
  const { page, client, goTo } = dashboard
  for (const place of ['batches/nope', 'webhooks/nope', 'data/pages/nope']) {
    await goTo(place)
    const panel = page.getByRole('complementary', { name: 'Not found' })
    await panel.getByText(/^There is no .* nope/).waitFor()
    await panel.getByRole('button', { name: 'Close' }).click()
    await panel.waitFor({ state: 'detached' })
  }
  const [record] = await client.defaultSandbox.state.list<{ id: string }>('pages')
  await goTo(`data/pages/${record?.id}`)
  await page.getByRole('tab', { name: 'JSON' }).click()
  await page.getByLabel('Record as JSON').fill('{"name": }')
  await page.getByRole('alert').getByText('value expected').waitFor()
  await page.getByRole('button', { name: 'Discard changes' }).click()
})

test('on a phone no view scrolls sideways, and every view satisfies WCAG', async () => {
  const { page, goTo } = dashboard
  await page.setViewportSize({ width: 390, height: 844 })
  for (const view of PHONE_VIEWS) {
    await goTo(view)
    // A detail hides the list with its title.
    await page.locator('main h1:visible, main h2:visible').first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(await violations(page)).toEqual([])
  }
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('no error occurred in the browser, and no request left the emulator', () => {
  expect(dashboard.problems).toEqual([])
})

test('a lost connection is shown with the age of the data, and a restart after the page has reconnected', async () => {
  const { page, emulator } = dashboard
  await emulator.close()
  await page.getByText('Connection lost. Showing data from').waitFor()
  const again = await openEmulator({ port: emulator.port, ephemeral: true, rate: 0 })
  try {
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.getByText('The emulator was restarted.').waitFor()
  } finally {
    await again.close()
  }
})
