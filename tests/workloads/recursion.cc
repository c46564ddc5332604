// SPDX-License-Identifier: Apache-2.0
/*
 * C++ without frame pointers: recursion through templates, virtual calls, lambdas and exceptions, for
 * so many milliseconds, or, as "xN", N times. Has a main() of its own.
 */
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace known
{
struct Node {
	virtual ~Node() = default;
	virtual long visit(int depth) = 0;
};

template <typename T> struct Tree : Node {
	std::vector<std::unique_ptr<Node>> children;
	T value{};

	long visit(int depth) override
	{
		volatile long sum = static_cast<long>(value);

		for (int i = 0; i < 2000; i++)
			sum = sum + i;
		if (depth == 0)
			throw std::runtime_error("bottom");
		std::function<long()> next = [&] {
			long all = 0;

			for (auto &child : children)
				all += child->visit(depth - 1);
			return all;
		};
		try {
			return sum + next();
		} catch (const std::runtime_error &) {
			return sum;
		}
	}
};

std::unique_ptr<Node> grow(int depth)
{
	auto tree = std::make_unique<Tree<double>>();

	if (depth > 0)
		for (int i = 0; i < 2; i++)
			tree->children.push_back(grow(depth - 1));
	return tree;
}
} // namespace known

int main(int argc, char **argv)
{
	const std::string amount = argc > 1 ? argv[1] : "3000";
	const bool is_count = amount[0] == 'x';
	const long limit = std::stol(amount.substr(is_count));
	const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit);
	auto tree = known::grow(10);

	for (long i = 0; is_count ? i < limit : std::chrono::steady_clock::now() < end; i++)
		tree->visit(10);
	return 0;
}
