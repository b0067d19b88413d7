import { digestOf, record } from './f5-replay.ts'

// A process of its own, since a time zone is one of a process: prints a digest of every response to a generated script.
const [requests = '0', seed = '0'] = process.argv.slice(2)
const digest = digestOf(await record(Number(requests), Number(seed)))
process.stdout.write(JSON.stringify({ digest, offset: new Date(0).getTimezoneOffset() }))
