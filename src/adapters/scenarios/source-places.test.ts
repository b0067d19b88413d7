import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sourceLocation } from './source-places.ts'

const SCRIPT = `import { defineScenario } from 'agent-workspace-emulator'
// export default { faults: [] } is what a scenario looks like
const files = [{ id: 'f' }]

export default defineScenario({
  description: "braces } and, commas: in 'texts' // do not count",
  fixtures: { collections: { files } },
  faults: [
    { preset: 'rate-limited', match: { operation: 'a' } }, /* }, { */
    {
      'preset': \`nope \${1 + 1}, {\`,
    },
  ],
  timeline: [
    { at: '10m', do: ({ batches }) => batches.latest()?.fail({ detail: 'x' }) },
    { at: 'never', async do({ sandbox }) { sandbox.log('a, b') } },
  ],
  on: { 'batch.completed': () => {}, 'batch.gone': () => {} },
  pase: 'immediate',
})
`

function lineOf(pointer: string, text = SCRIPT): string {
  const { line, column } = sourceLocation(text, pointer)
  return (text.split('\n')[line - 1] ?? '').slice(column - 1)
}

test('a pointer is found in the literal that a script exports', () => {
  expect(lineOf('/description')).toMatch(/^description:/)
  expect(lineOf('/faults/1/preset')).toMatch(/^'preset': `nope/)
  expect(lineOf('/timeline/1/at')).toMatch(/^at: 'never'/)
  expect(lineOf('/timeline/1/do')).toMatch(/^async do\(/)
  expect(lineOf('/on/batch.gone')).toMatch(/^'batch\.gone'/)
  expect(lineOf('/pase')).toMatch(/^pase: 'immediate'/)
})

test('a value outside the literal is reported at the innermost field that is in it', () => {
  expect(lineOf('/fixtures/collections/files/0/id')).toMatch(/^files }/)
  expect(lineOf('/faults/1/match')).toMatch(/^{\n?/)
  expect(lineOf('/nowhere')).toMatch(/^export default/)
  expect(lineOf('')).toMatch(/^export default/)
})

test('the exported object is found through a name, through another function, and in CommonJS', () => {
  const named = 'const other = {}\nconst mine: Scenario = define({\n  faults: 3,\n})\nexport default mine\n'
  expect(lineOf('/faults', named)).toBe('faults: 3,')
  expect(lineOf('/faults', `${named.replace('define({', '{').replace('})', '}')}`)).toBe('faults: 3,')
  expect(lineOf('/faults', 'module.exports = {\n  faults: 3,\n}')).toBe('faults: 3,')
  expect(lineOf('/faults', 'export default {\n  faults: 3,\n} satisfies Scenario')).toBe('faults: 3,')
})

test('every text and every pointer has a place', () => {
  const pieces = [...`{}[](),:'"\`=a\n`, 'export default ', '//', '/*']
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...pieces)),
      fc.array(fc.constantFrom('a', '0', '')),
      (parts, keys) => {
        const text = parts.join('')
        const { line, column } = sourceLocation(text, keys.map((key) => `/${key}`).join(''))
        expect(line).toBeGreaterThan(0)
        expect(line).toBeLessThanOrEqual(text.split('\n').length)
        expect(column).toBeGreaterThan(0)
      },
    ),
  )
})
