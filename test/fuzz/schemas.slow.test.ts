import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'

// A short run of `npm run fuzz:schemas`. Its exit code is ignored, because it depends on measured durations.
test('outputs for 2,000 random schemas are valid, and known values are found', {
  tags: ['R100'],
}, async () => {
  const args = ['node_modules/tsx/dist/cli.mjs', 'test/fuzz/schemas.ts', '2000']
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, (_failed, stdout, stderr) => resolve(stdout + stderr))
  })
  expect(output).toContain('around a known value: a value for 1000 of 1000')
  expect(output).toContain('\ninvalid values: 0\n')
})
