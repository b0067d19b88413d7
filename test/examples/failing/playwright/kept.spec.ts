import { expect, test } from 'agent-workspace-emulator/playwright'
import { chromiumPath } from '../../browser/chromium.ts'

test.use({ launchOptions: { executablePath: chromiumPath(), args: ['--no-sandbox'] } })

test('fails on a page that may not call this machine', async ({ page, sandbox }) => {
  await page.route('https://app.example/', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto('https://app.example/')
  const call = (url: string) => fetch(url).then(({ status }) => status, String)
  expect(await page.evaluate(call, `${sandbox.baseUrl}/data-views`)).toBe(200)
})
