// SPDX-License-Identifier: Apache-2.0
//
// Pool PORT TRUTH: 16 request threads hand each request to a pool of two threads, whose tasks make 6.5 MB of
// garbage and sleep 50 ms. It times the tasks, and how long the request threads waited for them.
import com.sun.net.httpserver.HttpServer;
import java.io.FileWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

public class Pool {
	static final AtomicLong tasks = new AtomicLong(), taskNs = new AtomicLong(), sleepNs = new AtomicLong(),
				waitNs = new AtomicLong();
	static volatile Object sink;

	static int task() throws Exception {
		long begin = System.nanoTime();
		List<byte[]> garbage = new ArrayList<>();
		for (int i = 0; i < 400; i++)
			garbage.add(new byte[16384]);
		sink = garbage;
		long sleep = System.nanoTime();
		Thread.sleep(50);
		sleepNs.addAndGet(System.nanoTime() - sleep);
		taskNs.addAndGet(System.nanoTime() - begin);
		tasks.incrementAndGet();
		return garbage.size();
	}

	static ThreadFactory named(String name) {
		AtomicInteger next = new AtomicInteger();
		return run -> new Thread(run, name + "-" + next.incrementAndGet());
	}

	static void writeTruth(String path) {
		try (FileWriter file = new FileWriter(path, true)) {
			file.write("- pid " + ProcessHandle.current().pid() + "\n");
			for (;;) {
				long now = System.nanoTime(); // CLOCK_MONOTONIC on Linux
				file.write(now + " tasks " + tasks + "\n" + now + " task_ns " + taskNs + "\n" + now
					   + " sleep_ns " + sleepNs + "\n" + now + " wait_ns " + waitNs + "\n");
				file.flush();
				Thread.sleep(100);
			}
		} catch (Exception e) {
			System.exit(1);
		}
	}

	public static void main(String[] args) throws Exception {
		ExecutorService backend = Executors.newFixedThreadPool(2, named("backend"));
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
		server.createContext("/", exchange -> {
			long begin = System.nanoTime();
			try {
				backend.submit(Pool::task).get();
			} catch (Exception e) {
				System.exit(1);
			}
			waitNs.addAndGet(System.nanoTime() - begin);
			byte[] body = "ok".getBytes();
			exchange.sendResponseHeaders(200, body.length);
			exchange.getResponseBody().write(body);
			exchange.close();
		});
		server.setExecutor(Executors.newFixedThreadPool(16, named("http")));
		server.start();
		Thread truth = new Thread(() -> writeTruth(args[1]), "truth");
		truth.setDaemon(true);
		truth.start();
	}
}
