import { createInterface } from 'node:readline'
import { Lock } from '../../src/adapters/storage/lock.ts'

// A process that takes locks. Each line on stdin is a JSON list of folders: first it releases the locks that it has, then it
// takes the locks of these folders, all at once. The answer is a JSON list: null for a lock that it has, or why it has not.
let held: readonly Lock[] = []
console.log('[]')
for await (const line of createInterface({ input: process.stdin })) {
  for (const lock of held) lock.release()
  const locks = await Promise.all(
    (JSON.parse(line) as string[]).map((folder) =>
      Lock.take(folder, () => {}).catch((error: Error) => error.message),
    ),
  )
  held = locks.filter((each) => typeof each !== 'string')
  console.log(JSON.stringify(locks.map((each) => (typeof each === 'string' ? each : null))))
}
process.exit()
