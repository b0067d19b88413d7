import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { createBatch, openFrozenEmulator, violations } from './browser.ts'
import { testsOfViews } from './views.ts'

const test = testsOfViews()

const PHONE_VIEWS = [
  ...['overview', 'timeline', 'requests', 'faults', 'batches', 'data', 'settings'],
  ...['webhooks', 'webhooks?tab=inbox', 'limits', 'conduct', 'coverage', 'scenarios', 'sandboxes', 'connect'],
]

test('on a phone no view scrolls sideways, and every view satisfies WCAG', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.webhooks.create({ url: 'http://127.0.0.1:9/hook' })
  await sandbox.webhooks.create({ inbox: true })
  await sandbox.clock.advance({ until: { batch: await createBatch(sandbox, 24) } })
  await sandbox.faults.preset('rate-limited')
  await sandbox.fetch('/data-views')
  const [request] = await sandbox.requests.list()
  await page.setViewportSize({ width: 390, height: 844 })
  for (const place of [...PHONE_VIEWS, `requests/${request?.id}`]) {
    await goTo(place)
    // A detail hides the list with its title.
    await page.locator('main h1:visible, main h2:visible').first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    // Other views have the same colours as on a desk, where the other tests check them.
    expect(await violations(page, place === 'timeline' ? ['dark', 'light'] : [])).toEqual([])
  }
  await page.setViewportSize({ width: 1280, height: 800 })
})

const nextOf = (page: Page) => page.getByRole('region', { name: 'Clock' }).locator('.next')

test('the next event in the header follows each change, and is never older than what was reported', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('limits')
  await nextOf(page).getByText('The automation fires').waitFor()
  const id = await createBatch(sandbox, 3)
  await nextOf(page).getByText('Validation ends').waitFor()
  await sandbox.batches.change(id, { hold: true })
  await nextOf(page).getByText('The completion window ends').waitFor()
  // The clock is read before the batch is released, and the response arrives after the report of the new next event.
  await page.route('**/__emulator/clock', async (route) => {
    const response = await route.fetch()
    await sandbox.batches.change(id, { hold: false })
    await nextOf(page).getByText('Validation ends').waitFor()
    await route.fulfill({ response })
  })
  const read = page.waitForResponse(/\/__emulator\/clock$/)
  await sandbox.clock.set({ skip_on_poll: false })
  await (await read).finished()
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  expect(await nextOf(page).textContent()).toContain('Validation ends')
  await page.unrouteAll({ behavior: 'wait' })
})

test('Go advances to the shown event, and it is no error when a running clock passes the event first', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await createBatch(sandbox, 3)
  await goTo('limits')
  const go = page.getByRole('button', { name: 'Go to the next event' })
  const { next } = await sandbox.clock.show()
  await go.click()
  await expect.poll(async () => (await sandbox.clock.show()).now).toBe(next?.at)
  await page.route('**/clock/advance', async (route) => {
    await sandbox.clock.advance('1h')
    await route.continue()
  })
  await go.click()
  await page.getByText('The running clock has already passed this instant.').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
})

test('the timeline shows an advance that another client has requested', async ({ page, goTo, sandbox }) => {
  await goTo('timeline')
  const last = page.getByRole('region', { name: 'Last advance' })
  await last.getByText('The events of the advance are listed here.').waitFor()
  await createBatch(sandbox, 3)
  await sandbox.clock.advance('1h')
  await last.getByText('1 h · 09:00:00 to 10:00:00 · 3 events').waitFor()
  await last.getByText('finalizing to completed').waitFor()
})

test('search finds sandboxes, records, scenarios, snapshots and settings, and runs actions', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.snapshots.save('before-search')
  await goTo('limits')
  const found = async (text: string, name: string | RegExp) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill(text)
    await page.getByRole('option', { name }).first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('combobox').waitFor({ state: 'detached' })
  }
  await found('page-handbook', /^page-handbook pages/)
  await found('webhook-trouble', /^webhook-trouble/)
  await found('before-search', 'Restore before-search')
  await found('lists.order', /^lists.order/)
  await found('clock 60', 'Clock 60×')
  await found(`sandbox ${sandbox.name}`, new RegExp(`^${sandbox.name} `))
  await page.keyboard.press('s')
  await page.getByRole('combobox').fill('sandbox made-by-search')
  await page.getByRole('option', { name: /^Open or create made-by-search/ }).waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL(/made-by-search\/limits$/)
})

test('a message covers no control, and says what to do when the emulator does not respond', async (view) => {
  const { expect, page, goTo, problems } = view
  await goTo('limits')
  await page.route('**/clock/advance', (route) =>
    route.request().method() === 'POST' ? route.abort() : route.continue(),
  )
  await page.getByRole('button', { name: '+1 h' }).click()
  const message = page.locator('.toast').filter({ hasText: 'no response' })
  await message.getByText(/^There is no response from http:\/\/127\.0\.0\.1:\d+\. Check that/).waitFor()
  expect(await message.textContent()).not.toMatch(/connect\(\)|TypeError/)
  const [toast, main] = [await message.boundingBox(), await page.locator('main').boundingBox()]
  expect(toast?.y).toBeGreaterThanOrEqual((main?.y ?? 0) + (main?.height ?? 0))
  await page.unrouteAll({ behavior: 'wait' })
  await message.click()
  // The browser itself logs the aborted call.
  problems.splice(0)
})

test('a save in the frame of the last key saves that key', async (view) => {
  const { expect, page, goTo, sandbox } = view
  const [record] = (await sandbox.state.list('pages')) as [{ id: string }]
  await goTo(`data/pages/${record.id}`)
  await page.getByRole('tab', { name: 'JSON' }).click()
  const field = page.getByLabel('Record as JSON')
  await field.evaluate(
    async (element, text) => {
      const field = element as unknown as { value: string; dispatchEvent(event: Event): void }
      field.value = text
      field.dispatchEvent(new Event('input', { bubbles: true }))
      // The page is drawn after the event, and no frame passes.
      for (let n = 0; n < 5; n++) await undefined
      const key = Object.assign(new Event('keydown', { bubbles: true }), { key: 's', ctrlKey: true })
      field.dispatchEvent(key)
    },
    JSON.stringify({ ...record, name: 'the last key' }),
  )
  await page.getByText(`${record.id} is saved.`).waitFor()
  expect(await sandbox.state.get('pages', record.id)).toMatchObject({ name: 'the last key' })
})

test('a link to a new rule applies in a composer that is open, and Escape closes every panel', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.fetch('/data-views')
  const [request] = await sandbox.requests.list()
  const batch = await createBatch(sandbox, 1)
  await goTo('faults/new?preset=rate-limited')
  const editor = page.getByLabel('Rule as JSON')
  await expect.poll(() => editor.inputValue()).toContain('rate-limited')
  await goTo('faults/new?preset=server-error&operation=pages.create')
  await expect.poll(() => editor.inputValue()).toContain('pages.create')
  await editor.focus()
  await page.keyboard.press('Escape')
  await editor.waitFor({ state: 'detached' })
  for (const place of [
    'faults/new',
    `requests/${request?.id}`,
    `batches/${batch}`,
    'data/pages/page-handbook',
  ]) {
    await goTo(place)
    const panel = page.getByRole('complementary')
    await panel.waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
  }
})

test('a batch can be held, given other outcomes, and completed', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('batches')
  await createBatch(sandbox, 3)
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

test('two editors do not overwrite each other: the later one has to choose which version to keep', async (view) => {
  const { expect, page, goTo, sandbox } = view
  const { state } = sandbox
  const [record] = (await state.list('pages')) as [{ id: string; name: string }]
  await goTo(`data/pages/${record.id}`)
  await page.getByRole('tab', { name: 'JSON' }).click()
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

test('a slow save does not navigate away from a view that was opened during it', async (view) => {
  const { expect, page, goTo, sandbox } = view
  const { state } = sandbox
  const record = (await state.list<{ id: string; name: string }>('pages')).at(-1)
  await goTo(`data/pages/${record?.id}`)
  await page.getByLabel('name', { exact: true }).fill('slow')
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

test('a rate window can be filled with a click, so that the next request gets 429, and cleared again', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('limits')
  await sandbox.fetch('/data-views')
  const row = page.getByRole('row').filter({ hasText: 'data-views.list' })
  await row.getByRole('button', { name: 'Fill' }).click()
  await page.getByText('data-views.list is full. Next request: 429.').waitFor()
  expect((await sandbox.fetch('/data-views')).status).toBe(429)
  expect(await violations(page)).toEqual([])
  await row.getByRole('button', { name: 'Clear' }).click()
  await page.getByText('data-views.list is empty.').waitFor()
  expect((await sandbox.fetch('/data-views')).status).toBe(200)
  const enforce = page.getByRole('switch', { name: 'Enforce limits' })
  await enforce.click()
  await page.getByText('Full windows do not refuse requests. Headers').waitFor()
  await row.getByRole('button', { name: 'Fill' }).click()
  expect((await sandbox.fetch('/data-views')).status).toBe(200)
  await enforce.click()
  await page.getByText('Full windows refuse requests.').waitFor()
  await row.getByRole('button', { name: 'Clear' }).click()
})

test('an endpoint can be subscribed, and a failed delivery is shown and can be sent again', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('webhooks')
  await page.getByRole('button', { name: 'Add endpoint' }).first().click()
  // No server listens on the discard port.
  await page.getByLabel('URL').fill('http://127.0.0.1:9/hook')
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await page.getByText('The endpoint is subscribed.').waitFor()
  const id = await createBatch(sandbox, 1)
  await sandbox.clock.advance({ until: { batch: id } })
  await page.getByRole('button', { name: 'Deliveries', exact: true }).click()
  await page.getByRole('row', { name: /batch_prediction.completed/ }).click()
  await page.getByText('1 attempt to http://127.0.0.1:9/hook.').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Redeliver now' }).click()
  await page.getByText('2 attempts to').waitFor()
})

test('the inbox receives webhooks without a server, and marks them as unread until they are opened', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.webhooks.create({ url: 'http://127.0.0.1:9/hook' })
  await goTo('webhooks?tab=inbox')
  await page.getByRole('button', { name: 'Use the inbox' }).click()
  await page.getByText('Nothing has arrived yet').waitFor()
  const id = await createBatch(sandbox, 1)
  await sandbox.clock.advance({ until: { batch: id } })
  await page.getByRole('row', { name: /batch_prediction.completed/ }).click()
  await page.getByText('with attempt 1. Responded 200.').waitFor()
  await page.getByText('not signed').waitFor()
  expect(await page.getByRole('group', { name: 'Body' }).textContent()).toContain(id)
  expect(await violations(page)).toEqual([])
  await page.getByRole('tab', { name: 'Raw' }).click()
  await page.getByText('X-Emulator-Event: batch_prediction.completed').waitFor()
  expect(await violations(page)).toEqual([])
  await sandbox.settings.change({
    'webhooks.signature': { header: 'X-Sign', secret: 'shared', timestamp_header: 'X-Time' },
  })
  await sandbox.faults.arm({ match: { webhook: '*' }, do: [{ deliver: { sign: 'old' } }] })
  await sandbox.clock.advance({ until: { batch: await createBatch(sandbox, 1) } })
  await page.getByRole('button', { name: 'Inbox 2' }).waitFor()
  await page
    .getByRole('row', { name: /batch_prediction.completed/ })
    .first()
    .click()
  await page.getByText('signature too old').waitFor()
  await page.getByText('The timestamp in X-Time is 301s old, and at most 5m is allowed.').waitFor()
  await sandbox.faults.clear()
  await sandbox.settings.change({ 'webhooks.signature': null })
  await page.getByRole('button', { name: 'Responds 200' }).click()
  await page.getByRole('button', { name: 'Respond with 503' }).click()
  await page.getByRole('button', { name: 'Responds 503' }).waitFor()
  await goTo('webhooks?tab=deliveries')
  await page
    .getByRole('row', { name: /127.0.0.1:9/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Send to inbox' }).click()
  await page.getByText('The inbox has received it.').waitFor()
})

test('settings and fixtures are edited as JSON: an error is shown at its line and changes nothing', async (view) => {
  const { expect, page, goTo, sandbox } = view
  const { state, settings } = sandbox
  await goTo('settings')
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  const dialog = page.getByRole('dialog', { name: 'Changed settings' })
  const editor = dialog.getByLabel('Changed settings as JSON')
  const written = { 'limits.path_key': 'concrete' }
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
  const fixtures = page.getByLabel('Import fixtures as JSON')
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

// That views are chosen and rows opened by keyboard is shown in Firefox.
test('an advance that is typed into the search is run, and ? shows the table of shortcuts', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('timeline')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  const before = Date.parse((await sandbox.clock.show()).now)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search and run' }).fill('advance +24')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect.poll(async () => Date.parse((await sandbox.clock.show()).now)).toBe(before + 86_400_000)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await page.keyboard.press('Escape')
})

test('the recording is saved as a file from the menu of requests and from the search, with the command to repeat it', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.fetch('/data-views')
  await goTo('requests')
  const file = `${sandbox.name}-recording.json`
  const saved = async (press: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent('download'), press()])
    await page
      .getByText(`${file} is saved. To repeat it: npx agent-workspace-emulator replay ${file}`)
      .first()
      .waitFor()
    const { recording, inputs } = JSON.parse(readFileSync(await download.path(), 'utf8'))
    return [download.suggestedFilename(), recording, inputs.length]
  }
  await page.getByRole('button', { name: 'More', exact: true }).press('Enter')
  // The key goes to what has the focus, which moves after the menu is drawn.
  await page.getByRole('button', { name: 'Save the recording' }).and(page.locator(':focus')).waitFor()
  expect(await saved(() => page.keyboard.press('Enter'))).toEqual([file, 3, 1])
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Copy command' }).click()
  await page.getByText(`${file} is saved.`).waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search and run' }).fill('save rec')
  expect(await saved(() => page.keyboard.press('Enter'))).toEqual([file, 3, 1])
  await page.getByRole('button', { name: 'Close the message' }).first().click()
})

test('coverage shows the statuses of each operation, and lists the points that the client has not met', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await sandbox.fetch('/organization/mcp-servers')
  await goTo('coverage')
  await page.getByText(/^\d+ of \d+ points \(\d[\d.]* %\) in all sandboxes$/).waitFor()
  await sandbox.faults.preset('server-error', { times: 1 })
  await sandbox.fetch('/organization/mcp-servers')
  const cell = (text: string) => page.getByRole('link', { name: `mcp-servers.list ${text}`, exact: true })
  await cell('200: met').waitFor()
  await cell('429: not met').click()
  const detail = page.getByRole('complementary', { name: 'Point status mcp-servers.list 429' })
  await detail.getByText('workspace-emulator faults add').waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Not met' }).click()
  await cell('429: not met').waitFor()
  expect(await cell('200: met').count()).toBe(0)
  await page.getByLabel('Filter points').fill('conflict')
  await page.getByRole('region', { name: 'error' }).getByRole('link').first().waitFor()
  expect(await cell('429: not met').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await page.getByLabel('Filter points').fill('')
})

test('a finding about the client leads to its requests', async (view) => {
  const { expect, page, goTo, sandbox } = view
  const headers = { 'Idempotency-Key': 'conduct', 'X-Emulator-Fault': 'retry-after-http-date' }
  await sandbox.fetch('/pages', { json: { name: 'Roof plan' }, headers })
  await sandbox.fetch('/pages', { json: { name: 'Roof plan' }, headers })
  await goTo('conduct')
  await page.getByLabel('Filter findings').fill('nothing')
  await page.getByText('The filter "nothing" hides').waitFor()
  await page.getByRole('button', { name: 'Clear filter' }).click()
  const group = page.getByRole('region', { name: /wait\.date-ignored pages\.create/ })
  await group.getByText('1 call · worst: waited').waitFor()
  await group.getByRole('img', { name: '2 attempts' }).waitFor()
  await page.getByText('Promised wait').waitFor()
  await group.getByRole('link').click()
  const detail = page.getByRole('complementary', { name: 'Finding wait.date-ignored' })
  await detail.getByRole('heading', { name: 'Fix' }).waitFor()
  expect(await violations(page)).toEqual([])
  await detail.getByText(/^after \d+ ms of /).waitFor()
  const link = detail.getByRole('link', { name: 'POST /pages' }).first()
  const id = await link.getAttribute('title')
  await link.click()
  await page.getByRole('complementary', { name: `Request ${id}` }).waitFor()
})

test('requests that wait at a gate are shown, and released one by one or together', async (view) => {
  const { expect, page, goTo, sandbox } = view
  const gate = await sandbox.gates.hold({ operation: 'pages.create' }, { at: 'before-handler' })
  await goTo('faults')
  const create = () => sandbox.fetch('/pages', { json: { name: 'Pier' } })
  const sent = [create(), create(), create()]
  const held = await gate.waiting(3)
  const card = page.getByRole('listitem').filter({ hasText: 'POST /v1/pages' })
  await card.nth(2).waitFor()
  expect(await violations(page)).toEqual([])
  await card
    .filter({ hasText: held[1]?.id ?? '' })
    .getByRole('button', { name: 'Release' })
    .click()
  await card.nth(2).waitFor({ state: 'detached' })
  expect((await sandbox.gates.list())[0]?.held.map(({ id }) => id)).toEqual([held[0]?.id, held[2]?.id])
  await page.getByRole('button', { name: 'Release all' }).click()
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200])
})

test('missing data is reported in a panel that can be closed, and a syntax error is explained', async ({
  page,
  goTo,
  sandbox,
}) => {
  await sandbox.fetch('/pages', { json: {}, headers: { 'X-Emulator-Fault': 'retry-after-http-date' } })
  const places = ['batches/nope', 'webhooks/nope', 'data/pages/nope', 'conduct/nope', 'coverage/nope']
  for (const place of places) {
    await goTo(place)
    const panel = page.getByRole('complementary', { name: 'Not found' })
    await panel.getByText(/^There is no .* nope/).waitFor()
    await panel.getByRole('button', { name: 'Close' }).click()
    await panel.waitFor({ state: 'detached' })
  }
  const [record] = await sandbox.state.list<{ id: string }>('pages')
  await goTo(`data/pages/${record?.id}`)
  await page.getByRole('tab', { name: 'JSON' }).click()
  await page.getByLabel('Record as JSON').fill('{"name": }')
  await page.getByRole('alert').getByText('value expected').waitFor()
  await page.getByRole('button', { name: 'Discard changes' }).click()
})

test('a request that its page cannot read is marked, and its detail has the fix', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('requests')
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
  await fetch(`${sandbox.baseUrl}/pages`, { method: 'OPTIONS', headers })
  await page.getByLabel('Filter requests').fill('origin:app.example')
  await page.getByRole('button', { name: 'Errors' }).click()
  await page.getByRole('row', { name: /OPTIONS \/pages 204 blocked by CORS/ }).click()
  await page.getByText('Pages of https://app.example may not use the API').first().waitFor()
  await page
    .getByText('Start the emulator with --cors-origin https://app.example (corsOrigins in JavaScript).')
    .waitFor()
  expect(await violations(page)).toEqual([])
})

test('an advance over weeks shows repeated runs of automations in one line, and each of them on demand', async (view) => {
  const { expect, page, goTo, sandbox } = view
  await goTo('timeline')
  const group = page.getByText(/^\d+ runs of 3 automations/)
  await page.getByRole('button', { name: '+29 d' }).click()
  await group.waitFor()
  await page.getByRole('button', { name: 'List all' }).click()
  await page.getByText('automations/automation-month-end').first().waitFor()
  await group.waitFor({ state: 'detached' })
  // The list stays when the advance is loaded again.
  const again = page.waitForResponse(/clock\/advance/)
  await sandbox.clock.set({ skip_on_poll: false })
  await (await again).finished()
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  expect(await group.count()).toBe(0)
  expect(await violations(page)).toEqual([])
})

test('a lost connection is shown with the age of the data, and a restart after the page has reconnected', async (view) => {
  const { onTestFinished, openPageOf } = view
  const first = await openFrozenEmulator()
  onTestFinished(() => first.close())
  const { page, goTo } = await openPageOf(first.url)
  onTestFinished(() => page.close())
  // The page knows the process only from the first event of its stream.
  const stream = page.waitForResponse((response) => /\/events/.test(response.url()))
  await goTo('timeline')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await stream
  await first.close()
  await page.getByText('Connection lost. Showing data from').waitFor()
  // Before the restart: the message stays only for some seconds.
  const restarted = page.getByText('The emulator was restarted.').waitFor()
  const again = await openFrozenEmulator({ port: first.port })
  onTestFinished(() => again.close())
  // The page also tries by itself, and then the button is gone.
  const retry = page.getByRole('button', { name: 'Retry now' }).click()
  await Promise.race([restarted, retry.catch(() => {})])
  await restarted
})
