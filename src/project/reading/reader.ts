// Worker thread of the reader: takes an order, posts news. It is bundled separately.
import { parentPort, workerData } from 'node:worker_threads'
import { type BuildOrder, readBuild } from './builds.ts'
import { read } from './read.ts'
import { END, type ReadOrder } from './summary.ts'

const order = workerData as ReadOrder | BuildOrder
const news = 'build' in order ? [readBuild(order.build)] : read(order)
for (const each of news) parentPort?.postMessage(each)
parentPort?.postMessage(END)
