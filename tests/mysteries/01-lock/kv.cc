// SPDX-License-Identifier: Apache-2.0
//
// kv FOLDER: a key-value store. Six workers share a map under one mutex. The flusher writes eight
// pages of 1 MB to the log and syncs each, under that mutex, every 20 ms.
#include <mutex>
#include <string>
#include <unordered_map>

#include "../truth.h"

#define LOG_SIZE (64 << 20)

enum { WAITS, WAIT_NS, HELD_NS, SYNC_NS, GETS };

// A mutex whose waits are timed: from the failed attempt to the success, without the time on a run queue.
class TimedMutex {
	std::mutex inner;

public:
	void lock()
	{
		if (inner.try_lock())
			return;
		uint64_t queue = runq_ns(), begin = now_ns();
		inner.lock();
		uint64_t waited = now_ns() - begin, queued = runq_ns() - queue;
		truth_add(WAITS, 1);
		truth_add(WAIT_NS, waited > queued ? waited - queued : 0);
	}
	void unlock() { inner.unlock(); }
};

class Store {
	TimedMutex mu;
	std::unordered_map<int, std::string> map;
	int log;
	off_t at = 0;
	std::string page = std::string(1 << 20, 'x');

public:
	explicit Store(const std::string &folder)
		: log(open((folder + "/wal.log").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644))
	{
		for (off_t i = 0; i < LOG_SIZE; i += page.size())
			if (pwrite(log, page.data(), page.size(), i) < 0)
				abort();
		for (int i = 0; i < 1000; i++)
			map[i] = std::string(400, 'a' + i % 26);
	}

	__attribute__((noinline)) size_t get(int key)
	{
		std::lock_guard<TimedMutex> guard(mu);
		size_t hash = 0;

		for (char c : map[key])
			hash = hash * 131 + static_cast<unsigned char>(c);
		truth_add(GETS, 1);
		return hash;
	}

	__attribute__((noinline)) void append_page()
	{
		uint64_t begin;

		if (pwrite(log, page.data(), page.size(), at) < 0)
			abort();
		begin = now_ns();
		fsync(log);
		truth_add(SYNC_NS, now_ns() - begin);
		at = (at + static_cast<off_t>(page.size())) % LOG_SIZE;
	}

	__attribute__((noinline)) void checkpoint()
	{
		std::lock_guard<TimedMutex> guard(mu);
		uint64_t begin = now_ns();

		for (int i = 0; i < 8; i++)
			append_page();
		truth_add(HELD_NS, now_ns() - begin);
	}
};

static Store *store;

static void *worker(void *arg)
{
	unsigned int seed = static_cast<unsigned int>(reinterpret_cast<uintptr_t>(arg));
	size_t sum = 0;

	for (;;) {
		sum += store->get(rand_r(&seed) % 1000);
		sleep_ns(500000);
	}
	return reinterpret_cast<void *>(sum);
}

static void *flusher(void *arg)
{
	for (;;) {
		store->checkpoint();
		sleep_ns(20000000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 64;
	truth_start("waits", "wait_ns", "held_ns", "sync_ns", "gets", NULL);
	store = new Store(argv[1]);
	for (uintptr_t i = 1; i <= 6; i++)
		start_thread(("worker-" + std::to_string(i)).c_str(), worker, reinterpret_cast<void *>(i));
	start_thread("flusher", flusher, nullptr);
	pause();
	return 0;
}
