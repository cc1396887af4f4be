// The reader as a thread of its own: it is given an order, and tells its news. It is bundled apart.
import { parentPort, workerData } from 'node:worker_threads'
import { read } from './read.ts'
import { END, type ReadOrder } from './summary.ts'

for (const news of read(workerData as ReadOrder)) parentPort?.postMessage(news)
parentPort?.postMessage(END)
