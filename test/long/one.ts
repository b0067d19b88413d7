import { proofs } from '../proofs/index.ts'

// Runs one proof at full length. The last line of stdout is its result as JSON; its progress goes to stderr.
const [id = ''] = process.argv.slice(2)
const proof = await proofs.get(id)?.()
if (proof === undefined) throw new Error(`There is no proof ${id}`)
const figures = await proof.run('long', (line) => console.error(`  ${line}`))
console.log(JSON.stringify({ promise: proof.promise, figures }))
process.exit(0)
