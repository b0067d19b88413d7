import { test } from 'vitest'
import { outputOf, seeded } from '../../test/support/output-schemas.ts'
import { REAL_SCHEMAS } from '../../test/support/real-schemas.ts'
import { outputsOf } from './outputs.ts'
import { writeFileSync } from 'node:fs'
test('x', () => {
  let n = 0
  const lines: string[] = []
  const seed = Number(process.env.SEED ?? 11)
  for (const [title, schema] of Object.entries(REAL_SCHEMAS)) {
    const [outputs, chance] = [outputsOf(schema), seeded(seed)]
    for (let k = 0; k < 4; k++) { const o = outputOf(outputs, chance) ?? {}; n += Object.keys(o).length; lines.push(`${title}: ${JSON.stringify(o)}`) }
  }
  writeFileSync('/tmp/v/values.txt', lines.join('\n') + `\n${n}\n`)
})
