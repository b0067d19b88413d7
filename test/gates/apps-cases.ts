import { expect, test } from 'vitest'
import { connect, type SandboxClient, startEmulator } from '../../src/index.ts'
import { details, form, notes } from './apps.ts'

/** How often a test finds that the app works, over HTTP, each time in a sandbox of its own. */
async function works(runs: number, run: (sandbox: SandboxClient) => Promise<boolean>): Promise<number> {
  await using emulator = await startEmulator({ port: 0, ephemeral: true, fixtures: 'demo', rate: 0 })
  let good = 0
  for (let n = 0; n < runs; n++) {
    await using sandbox = await connect(emulator.url).sandbox()
    good += Number(await run(sandbox))
  }
  return good
}

/** The tests of the three apps, each broken and repaired. */
export function testApps(runs: number): void {
  const APPS = [
    ['is shown', false, 0],
    ['is gone', true, runs],
  ] as const

  test.for(APPS)('a lost update %s in every run', { timeout: 120_000 }, async ([, isFixed, expected]) => {
    const run = async (sandbox: SandboxClient) => {
      const app = notes(sandbox, isFixed)
      await using gate = await sandbox.gates.hold(
        { operation: 'automations.update' },
        { at: 'before-handler' },
      )
      const edits = [app.add('first'), app.add('second')]
      // The repaired app sends one edit after the other.
      const together = isFixed ? 1 : 2
      for (let left = 2; left > 0; left -= together) {
        await gate.waiting(together)
        await gate.release()
      }
      await Promise.all(edits)
      const text = await app.text()
      return text?.includes('first') === true && text.includes('second')
    }
    expect(await works(runs, run)).toBe(expected)
  })

  test.for(APPS)('a double submit %s in every run', { timeout: 120_000 }, async ([, isFixed, expected]) => {
    const run = async (sandbox: SandboxClient) => {
      const app = form(sandbox, isFixed)
      const before = (await sandbox.state.list('pages')).length
      const gate = await sandbox.gates.hold({ operation: 'pages.create' }, { at: 'before-handler' })
      const first = app.submit('Roof plan')
      await gate.waiting()
      const second = app.submit('Roof plan')
      await gate.remove()
      await Promise.all([first, second])
      return (await sandbox.state.list('pages')).length === before + 1
    }
    expect(await works(runs, run)).toBe(expected)
  })

  test.for(APPS)(
    'a stale answer that arrives last %s in every run',
    {
      timeout: 120_000,
    },
    async ([, isFixed, expected]) => {
      const run = async (sandbox: SandboxClient) => {
        const app = details(sandbox, isFixed)
        await using gate = await sandbox.gates.hold(
          { operation: 'automations.retrieve' },
          { at: 'after-handler' },
        )
        const selections = [app.select('automation-month-end')]
        const [first] = await gate.waiting()
        selections.push(app.select('automation-on-demand'))
        const [, second] = await gate.waiting(2)
        await gate.release({ requests: [second ?? ''] })
        await selections[1]
        await gate.release({ requests: [first ?? ''] })
        await Promise.all(selections)
        return app.shown === 'Price check'
      }
      expect(await works(runs, run)).toBe(expected)
    },
  )
}
