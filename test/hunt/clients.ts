import { cases } from '../gallery/further/cases.ts'
import { bundledSuite, huntClient } from './run.ts'

// What a search finds without being told: npm run hunt:clients [-- BUDGET [CLIENT...]]. Some minutes for each client.

const [budget = '5m', ...named] = process.argv.slice(2)
const { file, remove } = await bundledSuite()
const clients = named.length > 0 ? named : [...cases.map(({ name }) => name), 'correct']
for (const name of clients) {
  const { runs, ms, passed, not_run, findings, without_faults } = huntClient(file, name, ['--budget', budget])
  console.log(
    `${name}: ${runs} runs in ${Math.round(ms / 1000)} s, ${passed} passed, ${not_run} were not run`,
  )
  for (const { severity, code } of without_faults.conduct)
    console.log(`  without faults: ${severity} ${code}`)
  for (const { kind, name: fault, message, conduct, also } of findings)
    console.log(`  ${kind}: ${fault} (+${also.length}) ${conduct.join(', ')} ${message.slice(0, 100)}`)
}
remove()
