import { digestOf, record } from './replay.ts'

// A separate process, because a time zone is a property of a process. Prints a digest of every response to a script.
const [requests = '0', seed = '0'] = process.argv.slice(2)
const digest = digestOf(await record(Number(requests), Number(seed)))
process.stdout.write(JSON.stringify({ digest, offset: new Date(0).getTimezoneOffset() }))
