import { expect, test } from 'vitest'
import { alive, dataFolder, killedData, type Life } from '../support/data-folder.ts'

const LEVELS = 250

/** A schema of 250 objects, one inside the other; the body around it has 502 levels. */
function nested(): object {
  let schema: object = { type: 'string' }
  for (let level = 0; level < LEVELS; level++)
    schema = { type: 'object', properties: { a: schema }, required: ['a'] }
  return schema
}

test('a schema of 500 levels survives a kill and a clean exit', { tags: ['R200', 'R280'] }, async () => {
  const data = dataFolder()
  const options = { fixtures: 'demo', settings: { 'batch.unknown_files': 'accept' } }
  const first = await alive(data, options)
  const api = async (url: string, method: string, path: string, body?: object) => {
    const headers = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: response.status, text: await response.text() }
  }
  const { baseUrl } = first.emulator
  const items = [{ custom_id: 'one', file_id: 'any' }]
  const request = { prompt: 'p', model: 'm', output_schema: nested(), items }
  const created = await api(baseUrl, 'POST', '/batch-predictions', request)
  expect(created.text).toContain('"status":"validating"')
  const { id } = JSON.parse(created.text)
  await first.control('POST', '/clock/advance', { until: { batch: id } })
  const { text: results } = await api(baseUrl, 'GET', `/batch-predictions/${id}/results`)
  let value = JSON.parse(results).output
  for (let level = 0; level < LEVELS; level++) value = value.a
  expect(value).toEqual(expect.any(String))
  const resultsOf = async ({ emulator }: Life) =>
    (await api(emulator.baseUrl, 'GET', `/batch-predictions/${id}/results`)).text

  expect(await resultsOf(await alive(killedData(data), options))).toBe(results)
  await first.emulator.close()
  expect(await resultsOf(await alive(data, options))).toBe(results)
})
