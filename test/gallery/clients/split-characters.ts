import { get } from 'node:http'
import type { Input, Service } from '../client.ts'

/** Reads the results of a batch. */
export function run({ baseUrl, apiKey }: Service, { id }: Input): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${apiKey}` }
    get(`${baseUrl}/batch-predictions/${id}/results`, { headers }, (response) => {
      let text = ''
      // Bug:
      response.on('data', (piece: Buffer) => {
        text += piece.toString('utf8')
      })
      // Repair:
      // response.setEncoding('utf8')
      // response.on('data', (piece) => {
      //   text += piece
      // })
      // End.
      response.on('error', reject)
      response.on('end', () => {
        const lines = text.split('\n').filter((line) => line.trim() !== '')
        if (response.statusCode === 200) resolve(lines.map((line) => JSON.parse(line)))
        else reject(new Error(`status ${response.statusCode}`))
      })
    }).on('error', reject)
  })
}
