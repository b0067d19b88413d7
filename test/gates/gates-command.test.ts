import { expect, test } from 'vitest'
import { running } from '../cli/running.ts'

test('the commands list what waits at gates, and release or abort it', async () => {
  const { emulator, run } = await running({ fixtures: 'demo' })
  expect((await run('gates')).out).toBe('There is no gate. "workspace-emulator faults add gate" arms one.')
  await run('faults', 'add', 'gate', '--operation', 'pages.create')
  const none = /^GATE +AT +RELEASED +WAITS\ngate +before-handler +by hand +nothing$/
  expect((await run('gates')).out).toMatch(none)
  const headers = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: '{"name":"Pier"}' }
  const create = () => fetch(`${emulator.baseUrl}/pages`, init).then(({ status }) => status)
  const { gates } = emulator.sandbox.faults
  for (const [args, says, ends] of [
    [['release'], 'Released', 200],
    [['abort', 'gate'], 'Aborted', 'cut'],
  ] as const) {
    const sent = create().catch(() => 'cut')
    await expect.poll(() => gates.size).toBe(1)
    const [{ id } = { id: '' }] = gates.held()
    expect((await run('gates')).out).toContain(`POST /v1/pages (${id})`)
    expect(await run('gates', ...args)).toMatchObject({ code: 0, out: `${says}: POST /v1/pages (${id}).` })
    expect(await sent).toBe(ends)
  }
  expect((await run('gates', 'abort')).out).toBe('Nothing waits.')
  const err = expect.stringContaining('Did you mean "gate"?')
  expect(await run('gates', 'release', 'gat')).toMatchObject({ code: 1, err })
})
