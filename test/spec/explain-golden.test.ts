import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { catalog } from '../../src/core/errors.ts'
import type { RequestTrace } from '../../src/core/explain/trace.ts'
import type { Json } from '../../src/core/json.ts'
import { STEPS } from '../../src/core/request/steps.ts'
import { workspaceService } from '../../src/service.ts'
import { KEYS } from '../support/base-state.ts'
import { prettyJson } from '../support/pretty-json.ts'
import { faultKinds } from './explain-fault-kinds.ts'
import { refusalKinds, sandboxOf, specialKinds, successKinds } from './explain-kinds.ts'

const kinds = [
  ...(await successKinds(workspaceService.operations.keys())),
  ...specialKinds,
  ...refusalKinds,
  ...faultKinds,
]

test.for(kinds.map((kind) => [kind.name, kind] as const))(
  '%s: explain names the deciding step',
  async ([name, kind]) => {
    const emulator = await sandboxOf(kind)
    const id = await kind.make(emulator)
    const { status, body } = await emulator.control('GET', `/explain/${id}`)
    expect([name, status]).toEqual([name, 200])
    const trace: RequestTrace = body
    const deciding = trace.steps.filter(({ outcome }) => outcome === 'decided')
    expect(deciding).toHaveLength(1)
    expect(trace.summary).toContain(` by the step ${deciding[0]?.step}: `)
    if (trace.error !== null) expect(name).toMatch(new RegExp(`^${trace.error.status}-${trace.error.code}`))
    // The tests of each operation check its response.
    const { response: _, ...rest } = trace
    const text = prettyJson(rest as unknown as Json).replaceAll(`:${emulator.emulator.port}`, ':4010')
    await expect(text).toMatchFileSnapshot(`golden/explain/${name}.json`)
  },
)

const golden = new URL('golden/explain/', import.meta.url)
const files = () => readdirSync(golden).sort()
const written = () =>
  files().map((file) => JSON.parse(readFileSync(new URL(file, golden), 'utf8')) as RequestTrace)

test('there is a golden file for each kind and no other', () => {
  expect(files()).toEqual(kinds.map(({ name }) => `${name}.json`).sort())
})

test('the golden files cover every operation and every error code', () => {
  const operations = new Set(written().flatMap(({ route }) => route.operation ?? []))
  expect([...operations].sort()).toEqual([...workspaceService.operations.keys()].sort())
  const codes = new Set(written().flatMap(({ error }) => error?.code ?? []))
  expect([...codes].sort()).toEqual(Object.keys(catalog).sort())
})

test('every step decides in some golden file, except the steps that refuse nothing', () => {
  const deciding = written().flatMap(({ steps }) => steps.filter(({ outcome }) => outcome === 'decided'))
  const decided = new Set(deciding.map(({ step }) => step))
  // Due events, polls and the log refuse nothing themselves.
  const never = ['runDueEvents', 'poll', 'log']
  expect(STEPS.filter((step) => !decided.has(step))).toEqual(never)
})

test('no secret is in a golden file', { tags: ['R231'] }, () => {
  const text = JSON.stringify(written())
  for (const secret of [
    ...Object.values(KEYS),
    'claim-1',
    'state-of-flow',
    'secret-code',
    'secret-state',
    '"authorization"',
  ]) {
    expect(text.includes(secret), secret).toBe(false)
  }
})
