import { connect, type SandboxClient } from 'agent-workspace-emulator'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBatch, violations } from './browser.ts'
import { sharedDashboard } from './views.ts'

const dashboard = sharedDashboard()
let sandbox: SandboxClient

beforeEach(async () => {
  sandbox = await connect(dashboard().emulator.url).sandbox()
})

afterEach(() => {
  expect(dashboard().problems.splice(0)).toEqual([])
})

const goTo = (place: string) => dashboard().goTo(place, sandbox.name)

test('requests show their number, caller and key, and are sorted by a click on the head of a column', async () => {
  const { page } = dashboard()
  const headers = { 'Idempotency-Key': 'roof-plan' }
  await sandbox.fetch('/pages', { json: { name: 'Roof plan' }, headers })
  await sandbox.fetch('/data-views')
  await page.setViewportSize({ width: 1440, height: 900 })
  await goTo('requests')
  await page.getByRole('row', { name: /^1 .* POST \/pages 200 pages.create key-owner roof-plan/ }).waitFor()
  expect(await page.getByRole('columnheader', { name: 'Fault' }).count()).toBe(0)
  const paths = () => page.locator('tbody tr[data-id] td:nth-child(4)').allTextContents()
  const byPath = page.getByRole('columnheader', { name: 'Path' })
  expect(await paths()).toEqual(['/data-views', '/pages'])
  await byPath.getByRole('button').click()
  await byPath.getByRole('button').click()
  expect(await byPath.getAttribute('aria-sort')).toBe('descending')
  expect(await paths()).toEqual(['/pages', '/data-views'])
  expect(await violations(page)).toEqual([])
  await byPath.getByRole('button').click()
  expect(await paths()).toEqual(['/data-views', '/pages'])
  await sandbox.faults.preset('rate-limited', { times: 1 })
  await sandbox.fetch('/data-views')
  await page.getByRole('columnheader', { name: 'Fault' }).waitFor()
  const cut = `[...document.querySelectorAll('td:nth-child(4) code')].filter((each) => each.scrollWidth > each.clientWidth)`
  await sandbox.fetch('/organization/teamspaces/teamspace-harbor/users')
  await page.getByRole('row', { name: /organization\/…\/users/ }).waitFor()
  expect(await page.evaluate(`${cut}.length`)).toBe(0)
  await page.setViewportSize({ width: 768, height: 1024 })
  await page.getByRole('columnheader', { name: 'Caller' }).waitFor({ state: 'detached' })
  expect(await page.getByRole('columnheader', { name: 'Path' }).boundingBox()).toMatchObject({
    width: expect.toSatisfy((width: number) => width >= 160),
  })
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('a batch shows its model, prompt and key, and whether it is completed in part, failed or expired', async () => {
  const { page } = dashboard()
  const { batches, clock } = sandbox
  await createBatch(sandbox, 1, 'whole', { 'Idempotency-Key': 'whole-1' })
  const partial = await createBatch(sandbox, 4, 'partly')
  await batches.change(partial, { outcomes: [{ every: 2, status: 'errored' }] })
  await batches.fail(await createBatch(sandbox, 1, 'broken'))
  const late = await createBatch(sandbox, 2, 'late')
  await batches.change(late, { pace: { in_progress: 'hold' } })
  await clock.advance('25h')
  await goTo('batches')
  await page
    .getByRole('row', { name: /^whole .*completed 1\/1 any-model Read vendor and total\..* whole-1$/ })
    .waitFor()
  await page.getByRole('row', { name: /^partly .*partial/ }).waitFor()
  await page.getByTitle('2 succeeded, 2 errored').waitFor()
  await page.getByRole('row', { name: /^broken .*failed/ }).waitFor()
  await page.getByRole('row', { name: /^late .*expired/ }).waitFor()
  expect(await violations(page)).toEqual([])
})

test('a delivery names its batch, and acknowledged failures leave the navigation until another one fails', async () => {
  const { page } = dashboard()
  await sandbox.webhooks.create({ url: 'http://127.0.0.1:9/hook' })
  await sandbox.clock.advance({ until: { batch: await createBatch(sandbox, 1, 'invoices') } })
  await goTo('webhooks')
  const link = page.getByRole('navigation').getByRole('link', { name: /^Webhooks/ })
  await link.getByText('problems').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Acknowledge 1 failure' }).click()
  await link.getByText('problems').waitFor({ state: 'detached' })
  expect(await violations(page)).toEqual([])
  await page.reload()
  await page.getByRole('row', { name: /completed.*invoices to http:\/\/127.0.0.1:9/ }).click()
  await page.getByRole('link', { name: 'invoices', exact: true }).first().waitFor()
  expect(await link.getByText('problems').count()).toBe(0)
  await sandbox.clock.advance({ until: { batch: await createBatch(sandbox, 1, 'permits') } })
  await page.getByRole('button', { name: 'Acknowledge 1 failure' }).waitFor()
  await link.getByText('problems').waitFor({ state: 'attached' })
})

test('data starts with a collection that a request has changed, and the id of another record leads to it', async () => {
  const { page } = dashboard()
  await sandbox.fetch('/pages', { json: { name: 'Roof plan' } })
  await goTo('data')
  await page.getByRole('heading', { name: 'Changed by requests' }).waitFor()
  await page
    .getByRole('link', { name: /^pages/ })
    .and(page.locator('[aria-current]'))
    .waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('link', { name: 'teamspace-depot' }).first().click()
  await page.getByRole('complementary', { name: 'Record teamspace-depot' }).waitFor()
  await page.getByLabel('name', { exact: true }).waitFor()
  await page.getByText('Refers to').waitFor()
  await page.getByRole('link', { name: 'org-larkmoor' }).click()
  await page.getByRole('complementary', { name: 'Record org-larkmoor' }).waitFor()
  await goTo('data/pages/page-handbook')
  await page.getByLabel('created_at', { exact: true }).fill('yesterday')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^\/created_at must be/).waitFor()
  expect(await violations(page)).toEqual([])
})

test('no name of a record or a fault, and no summary, is cut while a column beside it is empty', async () => {
  const { page } = dashboard()
  await sandbox.faults.preset('unavailable-with-retry-after', { times: 1 })
  await sandbox.fetch('/pages')
  const cut = `[...document.querySelectorAll('td, td *, .view-head > p')].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)`
  // A table is drawn again when its width is known.
  const isWhole = () => expect.poll(() => page.evaluate(cut)).toEqual([])
  for (const width of [1440, 1024, 768]) {
    await page.setViewportSize({ width, height: 900 })
    await goTo('requests')
    await page.getByText('unavailable-with-retry-after').waitFor()
    await isWhole()
    await goTo('data/users')
    await page.getByRole('cell', { name: 'mara.quill@example.com' }).waitFor()
    await isWhole()
  }
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('a setting is a switch or a choice, and a typed value is checked before it is saved', async () => {
  const { page } = dashboard()
  await goTo('settings?filter=required.pages')
  await page.getByRole('switch', { name: 'required.pages.create.parent' }).click()
  await page.getByText('required.pages.create.parent is changed.').waitFor()
  await goTo('settings?filter=lists.')
  await page.getByLabel('lists.order').selectOption('oldest')
  await page.getByText('lists.order is changed.').waitFor()
  const { overrides } = await sandbox.settings.show()
  expect(overrides).toEqual({ 'required.pages.create.parent': true, 'lists.order': 'oldest' })
  await page.getByLabel('lists.default_limit').fill('1000')
  await page.getByText(/^\/lists.default_limit must be an integer from 1 to 100/).waitFor()
  expect(await page.getByRole('button', { name: 'Save', exact: true }).getAttribute('aria-disabled')).toBe(
    'true',
  )
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByLabel('lists.default_limit').fill('50')
  await page.getByText(/^\/lists.default_limit must be/).waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  await page.getByText('lists.default_limit is changed.').waitFor()
  expect((await sandbox.settings.show()).values['lists.default_limit']).toBe(50)
})

test('a scenario opens with its description, its source and what is active', async () => {
  const { page } = dashboard()
  await goTo('scenarios')
  await page.getByRole('link', { name: 'webhook-trouble' }).click()
  const detail = page.getByRole('complementary', { name: 'Scenario webhook-trouble' })
  await detail.getByText('Webhooks are delivered twice').first().waitFor()
  await detail.getByText('the scenario is not active').waitFor()
  await detail.getByText('defineScenario({').waitFor()
  await sandbox.scenarios.start('webhook-trouble')
  await detail.getByText('armed, fired 0 of 0').waitFor()
  expect(await violations(page)).toEqual([])
})

test('a rule has never fired only after a request that matched, and a window is short only when it is nearly full', async () => {
  const { page } = dashboard()
  await sandbox.faults.preset('server-error', { when: { nth: 5 } })
  await goTo('faults')
  const tag = page.locator('.rules')
  await tag.getByText('armed').waitFor()
  await sandbox.fetch('/data-views')
  await tag.getByText('never fired').waitFor()
  await goTo('limits')
  const row = page.getByRole('row').filter({ hasText: 'data-views.list' })
  await row.getByText('oldest leaves at').waitFor()
  expect(await row.getByText('Next free').count()).toBe(0)
  await row.getByRole('button', { name: 'Fill' }).click()
  await row.getByText('Next free in').waitFor()
})

test('Escape or a click closes the message of an error', async () => {
  const { page } = dashboard()
  await sandbox.fetch('/nowhere')
  const [request] = await sandbox.requests.list()
  const message = page.getByText('it matches no route. Send it with the client')
  const closings = [() => page.keyboard.press('Escape'), () => message.click()]
  for (const close of closings) {
    await goTo(`requests/${request?.id}`)
    await page.getByRole('button', { name: 'Send again' }).click()
    await message.waitFor()
    await close()
    await message.waitFor({ state: 'detached' })
  }
})

test('the text of a disabled button is readable under the pointer', async () => {
  const { page } = dashboard()
  const id = await createBatch(sandbox, 1, 'invoices')
  await sandbox.clock.advance({ until: { batch: id } })
  await goTo(`batches/${id}`)
  const button = page.getByRole('button', { name: 'Advance to done' })
  await button.hover()
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  expect(await violations(page)).toEqual([])
})
