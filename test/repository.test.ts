import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

// The files beside the code that name its version or are read by the host of the repository.

const read = (path: string) => readFileSync(path, 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  name: string
  version: string
  engines: { node: string }
}
const workflow = (name: string) =>
  parse(read(`.github/workflows/${name}`), { strict: true, uniqueKeys: true })

test('every file that names the version names that of package.json', () => {
  const { name, version } = manifest
  const lock = JSON.parse(read('package-lock.json'))
  expect([lock.version, lock.packages[''].version]).toEqual([version, version])
  expect(read('CHANGELOG.md').match(/^## (\d\S*)/m)?.[1]).toBe(version)
  for (const page of ['README.md', 'docs/guide/docker.md']) {
    const named = [...read(page).matchAll(/agent-workspace-emulator[-:](\d+\.\d+\.\d+)/g)].map(
      ([, found]) => found,
    )
    expect(named.length, page).toBeGreaterThan(0)
    expect(new Set(named), page).toEqual(new Set([version]))
  }
  expect(read('README.md')).toContain(`${name}-${version}.tgz`)
})

test('CI runs .ci/run, and the tests with each version of Node that package.json names, on Linux, macOS and Windows', () => {
  const { jobs } = workflow('ci.yml')
  const majors = [...manifest.engines.node.matchAll(/(\d+)\.\d+\.\d+/g)].map(([, major]) => major)
  const matrix: string[] = jobs.linux.strategy.matrix.node
  expect(matrix.map((each) => each.split('.')[0])).toEqual(majors)
  expect(jobs['other-systems'].strategy.matrix.os).toEqual(['macos-latest', 'windows-latest'])
  expect(jobs.all.steps).toContainEqual({ run: '.ci/run' })
})

test('every script of npm that a workflow runs exists', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const runs = ['ci.yml', 'release.yml'].flatMap((name) => [
    ...read(`.github/workflows/${name}`).matchAll(/npm run ([\w:]+)/g),
  ])
  expect(runs.length).toBeGreaterThan(0)
  for (const [, script = ''] of runs) expect(Object.keys(scripts)).toContain(script)
})

test('a release runs on a tag after CI, publishes without a token, and only its own jobs may write', () => {
  const release = workflow('release.yml')
  expect(release.on).toEqual({ push: { tags: ['v*'] } })
  expect(release.permissions).toEqual({ contents: 'read' })
  const { test: checks, pack, npm, image } = release.jobs
  expect(checks.uses).toBe('./.github/workflows/ci.yml')
  expect([pack.needs, npm.needs, image.needs]).toEqual(['test', 'pack', 'npm'])
  expect(npm.permissions).toEqual({ contents: 'read', 'id-token': 'write' })
  expect(image.permissions).toEqual({ contents: 'read', packages: 'write' })
  expect(read('.github/workflows/release.yml')).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN/)
})

/** The kinds of elements of a form. */
const ELEMENTS = ['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']

test('every issue form has a name, a description, and elements with a label and an id of their own', () => {
  const folder = '.github/ISSUE_TEMPLATE'
  const forms = readdirSync(folder).filter((file) => file !== 'config.yml')
  expect(forms.sort()).toEqual(['bug.yml', 'feature.yml'])
  for (const file of forms) {
    const form = parse(read(join(folder, file)), { strict: true, uniqueKeys: true })
    expect(
      [form.name, form.description].every((text) => /\w/.test(text)),
      file,
    ).toBe(true)
    const questions = form.body.filter(({ type }: { type: string }) => type !== 'markdown')
    const ids = questions.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size, file).toBe(questions.length)
    for (const { type, attributes } of form.body) {
      expect(ELEMENTS, file).toContain(type)
      expect(attributes[type === 'markdown' ? 'value' : 'label'], file).toMatch(/\w/)
    }
  }
})

test('every action of the workflows of this repository is named by its commit', () => {
  const names = readdirSync('.github/workflows')
  const used = names.flatMap((name) =>
    [...read(join('.github/workflows', name)).matchAll(/uses: (.+)/g)].map(([, use]) => use),
  )
  expect(used.length).toBeGreaterThan(5)
  for (const use of used) expect(use).toMatch(/^(?:\.\/.+|[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/)
})

test('the job that publishes runs no script of a package, and nothing of the repository', () => {
  const { jobs } = workflow('release.yml') as {
    jobs: Record<string, { permissions?: object; steps?: { run?: string }[] }>
  }
  const trusted = Object.values(jobs).filter(({ permissions }) =>
    Object.hasOwn(permissions ?? {}, 'id-token'),
  )
  expect(trusted.map(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []))).toEqual([
    ['npm publish ./*.tgz --ignore-scripts --provenance --access public'],
  ])
  for (const run of Object.values(jobs).flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? [])))
    if (/npm (?:ci|install)/.test(run)) expect(run).toContain('--ignore-scripts')
})

test('the package lists the bundled SDK with licence and version of the lock file, and SECURITY.md names it', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  const listed = [...read('dist/mcp-sdk-LICENSES.txt').matchAll(/^(@?[\w/.-]+) (\d\S+) \(Apache-2\.0\)$/gm)]
  expect(listed.map(([, name]) => name)).toEqual([
    '@modelcontextprotocol/core',
    '@modelcontextprotocol/server',
  ])
  for (const [, name, version] of listed) {
    expect(packages[`node_modules/${name}`].version).toBe(version)
    expect(read('SECURITY.md')).toContain(`\`${name}\` ${version}`)
  }
})
