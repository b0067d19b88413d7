export type { OnNotice } from './notice.ts'
export { openPersistence, type Persistence } from './persistence.ts'
