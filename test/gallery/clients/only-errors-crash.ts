import type { Input, Service } from '../client.ts'

interface ResultLine {
  readonly output: { readonly total: number } | null
}

/** Waits for a batch. A completed one is returned with the highest total of its results. */
export async function run({ get, sleep }: Service, { id }: Input): Promise<unknown> {
  const read = async (path: string) => {
    const response = await get(path)
    if (!response.ok) throw new Error(`status ${response.status}`)
    return response.text()
  }
  for (let wait = 1000; ; wait = Math.min(wait * 2, 30_000)) {
    const batch = JSON.parse(await read(`/batch-predictions/${id}`)) as { status: string }
    if (['failed', 'expired', 'cancelled'].includes(batch.status)) return batch
    if (batch.status === 'completed') {
      const lines = (await read(`/batch-predictions/${id}/results`))
        .split('\n')
        .filter((line) => line.trim() !== '')
      const outputs = lines.flatMap((line) => (JSON.parse(line) as ResultLine).output ?? [])
      // Bug:
      const highest = outputs.map(({ total }) => total).reduce((one, other) => Math.max(one, other))
      // Repair:
      // const highest = outputs.map(({ total }) => total).reduce((one, other) => Math.max(one, other), 0)
      // End.
      return { ...batch, highest }
    }
    await sleep(wait)
  }
}
