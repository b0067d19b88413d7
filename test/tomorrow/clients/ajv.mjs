// The schemas of the OpenAPI document as they are.
import { readFileSync } from 'node:fs'
import { judgeOf } from '../opened.ts'
import { checkedCalls, report } from './calls.mjs'

const problemOf = judgeOf(JSON.parse(readFileSync(process.env.OPENAPI, 'utf8')), false)
const headers = new Headers({ 'content-type': 'application/json' })

await report(
  checkedCalls((name, body) => {
    const problem = problemOf(name, { status: 200, headers, text: JSON.stringify(body) })
    if (problem !== undefined) throw new Error(problem)
  }),
)
